"""Draws the tables of a section as SVG: a panel for each table, a line for each column, and a point for each row.

Both axes are logarithmic. A row's name begins with a number, which is its place on the horizontal axis. A drawing is a
function of the results alone, as a page is (page.py).
"""

import math
import re
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 380, 250  # of a panel
LEFT, TOP, RIGHT, BOTTOM = 62, 30, 14, 42  # around it
LEGEND = 20  # the height of a line
# Colours that people with a colour vision deficiency can tell apart, and dashes for those who see none.
STYLES = (("#0072b2", ""), ("#0072b2", "6 4"), ("#d55e00", ""), ("#d55e00", "6 4"), ("#009e73", ""), ("#009e73", "6 4"))


def draw(figures, across):
    """`across` says what is counted on the horizontal axis."""
    panels = {}
    for figure in figures:
        table, row, column = figure.path
        panels.setdefault(table, {}).setdefault(column, []).append((leading_number(row), figure.median))
    columns = list(next(iter(panels.values())))
    points = [point for panel in panels.values() for line in panel.values() for point in line]
    xs = sorted({x for x, _ in points})
    decades = range(math.floor(math.log10(min(y for _, y in points))), math.ceil(math.log10(max(y for _, y in points))) + 1)
    each = LEFT + WIDTH + RIGHT
    height = TOP + HEIGHT + BOTTOM + LEGEND * len(columns) + 8
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {each * len(panels)} {height}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{each * len(panels)}" height="{height}" fill="#fff"/>']
    for number, (title, panel) in enumerate(panels.items()):
        lines += drawn_panel(each * number + LEFT, title, panel, xs, decades, figures[0].unit, across)
    for index, column in enumerate(columns):
        y = TOP + HEIGHT + BOTTOM + LEGEND * (index + 0.5)
        lines += [stroke(index, f"M{LEFT} {y:g}h40"), text(LEFT + 50, y + 4, column, "start")]
    return "\n".join([*lines, "</svg>"]) + "\n"


def leading_number(row):
    return float(re.match(r"[\d,.]+", row)[0].replace(",", ""))


def drawn_panel(left, title, panel, xs, decades, unit, across):
    low, high = decades[0], decades[-1]
    first, last = math.log10(xs[0]), math.log10(xs[-1])

    def place(x, y):
        return (left + (math.log10(x) - first) / (last - first) * WIDTH,
                TOP + (high - math.log10(y)) / (high - low) * HEIGHT)

    lines = [text(left + WIDTH / 2, TOP - 12, title, "middle")]
    for decade in decades:
        _, y = place(xs[0], 10 ** decade)
        lines += [grid(f"M{left} {y:.1f}h{WIDTH}"), text(left - 6, y + 4, f"{10.0 ** decade:,g}", "end")]
    for x in xs:
        at, _ = place(x, 10 ** low)
        lines += [grid(f"M{at:.1f} {TOP}v{HEIGHT}"), text(at, TOP + HEIGHT + 16, f"{x:,g}", "middle")]
    lines += [text(left + WIDTH / 2, TOP + HEIGHT + 33, across, "middle"), text(left - 6, TOP - 12, unit, "end")]
    for index, points in enumerate(panel.values()):
        places = [place(x, y) for x, y in sorted(points)]
        lines.append(stroke(index, "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)))
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{STYLES[index][0]}"/>' for x, y in places]
    return lines


def stroke(index, path):
    colour, dashes = STYLES[index]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'


def grid(path):
    return f'<path d="{path}" stroke="#ccc"/>'


def text(x, y, words, anchor):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
