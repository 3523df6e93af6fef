"""The figures that benchmarks print, in the form that bench/shared/figures.h describes.

As a program it prints one such line: figures.py NAME UNIT SAMPLE...
"""

import math
import re
import statistics
import sys
from dataclasses import dataclass

LINE = re.compile(r"^(?P<name>\S.*?) {2,}(?P<median>\S+) \((?P<low>\S+) \.\. (?P<high>\S+)\)"
                  r"(?: (?P<unit>[^\[]*\S))? \[(?P<samples>[^\[\]]+)\]$")


@dataclass
class Figure:
    """A named quantity and its samples, one for each run."""

    name: str
    unit: str
    samples: list

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def lowest(self):
        return min(self.samples)

    @property
    def highest(self):
        return max(self.samples)

    @property
    def path(self):
        """The name's parts: table, row and column; those that it lacks are empty."""
        parts = self.name.split(" | ")
        return [""] * (3 - len(parts)) + parts if len(parts) > 1 else ["", parts[0], ""]


def parse(text):
    """The figures among the lines of a benchmark's output, by name. A line that is printed again replaces the first."""
    found = {}
    for line in text.splitlines():
        match = LINE.match(line.rstrip())
        if not match:
            continue
        samples = [float(sample) for sample in match["samples"].split()]
        if any(not math.isfinite(sample) for sample in samples):
            raise ValueError(f"not a number: {line}")
        found[match["name"]] = Figure(match["name"], match["unit"] or "", samples)
    return found


def number(value, digits=5):
    """Without an exponent, rounded to so many significant digits."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def line(name, unit, samples):
    figure = Figure(name, unit, list(samples))
    middle = f"{number(figure.median):>9} ({number(figure.lowest)} .. {number(figure.highest)})"
    return f"{name:<60}  {middle}{' ' + unit if unit else ''} [{' '.join(map(number, figure.samples))}]"


if __name__ == "__main__":
    print(line(sys.argv[1], sys.argv[2], [float(sample) for sample in sys.argv[3:]]))
