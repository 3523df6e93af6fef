"""Results as a Markdown table, one line for each fault."""

import statistics

from trial import MIB

HEAD = ("fault", "times", "rows", "lost", "twice", "connected, s", "all shown, s", "controller, MiB", "agent, MiB",
        "descriptors")


def seconds(values):
    """Median, and the longest where there are several."""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{statistics.median(values):.1f} ({max(values):.1f})"


def peak(results, kind):
    highest = max(result.peaks.get(kind, 0) for result in results)
    return f"{highest / MIB:.0f}" if highest else ""


def line(name, results):
    total = {what: sum(getattr(result, what) for result in results) for what in ("rows", "lost", "twice")}
    return (f"`{name}`", len(results), total["rows"], total["lost"], total["twice"],
            seconds([result.connected for result in results]), seconds([result.shown for result in results]),
            peak(results, "controller"), peak(results, "agent"),
            f"{max(result.descriptors for result in results):+d}")


def table(results):
    by_fault = {}
    for result in results:
        by_fault.setdefault(result.fault.name, []).append(result)
    lines = [HEAD, ("---", *("---:" for _ in HEAD[1:]))]
    lines += [line(name, of) for name, of in by_fault.items()]
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in lines)


def catalogue(faults):
    lines = ["| fault | what happens | what becomes of results | what the operator sees |", "|---|---|---|---|"]
    lines += [f"| `{fault.name}` | {fault.meaning} | {fault.data} | {fault.seen} |" for fault in faults]
    return "\n".join(lines)
