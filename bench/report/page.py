"""Writes results into docs/benchmarks.md: what stands between <!-- report: NAME --> and <!-- end --> is generated.

A page is a function of its text, of the results and of the profiles alone, so a test can see that nobody has edited a figure.
"""

import operator
import re

import plot
import profile_table
from comparison import is_limit
from figures import Figure, number

BLOCK = re.compile(r"(<!-- report: (?P<name>[a-z0-9_]+) -->\n)(?P<inside>.*?)(<!-- end -->)", re.DOTALL)
SUMMARY = "summary"
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def names(text):
    return [match["name"] for match in BLOCK.finditer(text)]


def write(text, results, sections, profiles=None):
    """The page, with every block made from the results, and from the profile of its section if there is one."""
    by_name = {section.name: section for section in sections}

    def inside(match):
        name = match["name"]
        made = summary(results, sections) if name == SUMMARY else block(by_name[name], results.get(name))
        profile = (profiles or {}).get(name)
        below = "\n".join(["", *profile_table.lines(profile), ""]) if profile else ""
        return f"{match[1]}{made}{below}{match[4]}"

    return BLOCK.sub(inside, text)


def drawings(results, sections):
    """The drawings beside the page: their text by name."""
    measured_ones = [section for section in sections if section.plot and "figures" in results.get(section.name, {})]
    return {section.plot: plot.draw(list(figures_of(results[section.name]).values()), section.across)
            for section in measured_ones}


def people(value, unit=""):
    """Three significant digits, and thousands apart. Counts are exact; percentages near the whole have two decimals."""
    if unit == "%" and abs(value) >= 90:
        return f"{value:.2f}"
    if not unit and value == int(value):
        return f"{int(value):,}"
    rounded = number(value, 3)
    return f"{float(rounded):,.{len(rounded.partition('.')[2])}f}"


def spread(figure):
    return f"{people(figure.lowest, figure.unit)} .. {people(figure.highest, figure.unit)}"


def figures_of(result):
    return {name: Figure(name, unit, samples) for name, (unit, *samples) in result.get("figures", {}).items()}


def block(section, result):
    if result is None:
        return "Not measured yet.\n"
    if "not_run" in result:
        return f"Not run: {result['not_run']}.\n"
    lines = [*measured(result), ""]
    for table in tables(list(figures_of(result).values())):
        lines += table_lines(section, table, result.get("moved", {})) + [""]
    return "\n".join(lines[:-1]) + "\n"


def measured(result):
    """The command, and where, when and on what it was run."""
    lines = [f"    {result['command']}", "",
             f"{result['mode'].capitalize()} report of {result['date']} at commit {result['commit']}, on "
             f"{result['machine']}.",
             f"The load was {result['load']} before it began; the machine's host took {result['stolen']} % of the "
             "processors' time."]
    if "compared" in result:
        lines.append(f"What moved is compared with commit {result['compared']}.")
    return lines


def tables(figures):
    """Lists of figures that belong to one table, in their order."""
    found = {}
    for figure in figures:
        table, _, column = figure.path
        found.setdefault((table, bool(column)), []).append(figure)
    return list(found.values())


def table_lines(section, figures, moved):
    goals = {figure.name: section.goals[figure.name] for figure in figures if figure.name in section.goals}
    some_moved = any(figure.name in moved for figure in figures)
    make = grid if figures[0].path[2] else plain
    head, rows = make(figures)
    head += ["goal"] * bool(goals) + ["moved"] * some_moved
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for label, cells, own in rows:
        more = []
        if goals:
            more.append("; ".join(verdict(figure, goals[figure.name], len(own) > 1) for figure in own
                                  if figure.name in goals))
        if some_moved:
            more.append("; ".join(movement(figure, moved[figure.name], len(own) > 1) for figure in own
                                  if figure.name in moved))
        lines.append(f"| {' | '.join([label, *cells, *more])} |")
    return lines


def plain(figures):
    rows = []
    for figure in figures:
        single = len(figure.samples) == 1
        cells = [people(figure.median, figure.unit), "" if single else spread(figure)]
        rows.append((with_unit(figure.name, figure.unit), cells, [figure]))
    return ["", "median", "lowest .. highest"], rows


def grid(figures):
    """Units stand in the head where a column has one unit, and otherwise in the rows."""
    columns, rows = {}, {}
    for figure in figures:
        columns.setdefault(figure.path[2], set()).add(figure.unit)
        rows.setdefault(figure.path[1], {})[figure.path[2]] = figure
    in_head = all(len(units) == 1 for units in columns.values())
    head = [figures[0].path[0]] + [with_unit(name, min(units)) if in_head else name for name, units in columns.items()]
    made = []
    for row, found in rows.items():
        units = {figure.unit for figure in found.values()}
        made.append((row if in_head else with_unit(row, "/".join(sorted(units - {""}))),
                     [cell(found.get(column)) for column in columns], list(found.values())))
    return head, made


def with_unit(name, unit):
    return f"{name}, {unit}" if unit else name


def cell(figure):
    if figure is None:
        return ""
    middle = people(figure.median, figure.unit)
    return middle if len(figure.samples) == 1 else f"{middle} ({spread(figure)})"


def met(figure, goal):
    sign, bound = goal.split()
    return COMPARE[sign](figure.median, float(bound))


def verdict(figure, goal, named):
    which = f"{figure.path[2]} " if named else ""
    sign, bound = goal.split()
    return f"{which}{sign} {float(bound):,g}: {'met' if met(figure, goal) else '**missed**'}"


def movement(figure, share, named):
    which = f"{figure.path[2]} " if named else ""
    return which + percent(share)


def percent(share):
    """A figure that was next to nothing moves by any number of percent."""
    return f"{100 * share:+.0f} %" if share < 10 else "more than tenfold"


def summary(results, sections):
    """What a reader wants to know first: goals that are missed, figures that moved, sections that were not run."""
    missed, moved, not_run = [], [], []
    for section in sections:
        result = results.get(section.name)
        if result is None:
            not_run.append(f"{section.name}: not measured yet")
            continue
        if "not_run" in result:
            not_run.append(f"{section.name}: {result['not_run']}")
            continue
        found = figures_of(result)
        missed += [f"{section.name}: {name} is {value_of(found[name])}, goal {goal}" if name in found else
                   f"{section.name}: {name} was not measured, goal {goal}"
                   for name, goal in section.goals.items() if name not in found or not met(found[name], goal)]
        moved += [f"{section.name}: {name} by {percent(share)}"
                  for name, share in result.get("moved", {}).items() if not is_limit(name)]
    return "\n".join(listed("Goals that are missed", missed)
                     + listed("Figures that moved by more than the machine's own limit", moved)
                     + listed("Not run", not_run)) + "\n"


def value_of(figure):
    return f"{people(figure.median, figure.unit)} {figure.unit}".strip()


def listed(title, entries):
    if not entries:
        return [f"{title}: none.", ""]
    return [f"{title}:", "", *(f"- {entry}" for entry in entries), ""]
