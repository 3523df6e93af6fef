"""Whether a figure moved by more than the machine's own limit did.

The limit of a section says how fast the machine was in a run. From one report to the next, a speed is expected to move
as the limit did, a time to move the other way, and a size or a ratio to stay. A figure has moved if its samples do not
overlap the earlier ones at that expected place, and its median is more than 5 % away from there.
"""

LEAST = 0.05
TIMES = ("s", "ms", "us", "ns")


def is_speed(unit):
    return "/s" in unit


def is_time(unit):
    return unit.split(" ")[0] in TIMES


def speed_change(limit, earlier):
    """By what factor the machine became faster, by a figure that is the machine's limit."""
    if not limit or not earlier or limit.median <= 0 or earlier.median <= 0:
        return 1.0
    change = limit.median / earlier.median
    return 1 / change if is_time(limit.unit) else change


def expected_factor(unit, faster):
    if is_speed(unit):
        return faster
    return 1 / faster if is_time(unit) else 1.0


def moved(figure, earlier, faster=1.0):
    """By what share of the expected value the figure moved; None if it did not, or cannot be compared."""
    if earlier is None or earlier.unit != figure.unit or earlier.median == 0:
        return None
    factor = expected_factor(figure.unit, faster)
    share = figure.median / (earlier.median * factor) - 1
    low, high = sorted((earlier.lowest * factor, earlier.highest * factor))
    apart = figure.lowest > high or figure.highest < low
    return share if apart and abs(share) > LEAST else None


def is_limit(name):
    return "limit:" in name


def compare(figures, earlier, limit_of, machine):
    """By name, the shares by which figures moved, and for each limit by how much it changed.

    `limit_of` gives the name of a figure's limit. Where the section has no such figure, `machine` is by what factor the
    processor became faster.
    """
    shares = {}
    for name, figure in figures.items():
        before = earlier.get(name)
        if is_limit(name):
            shares[name] = figure.median / before.median - 1 if before and before.median else None
            continue
        limit = limit_of(name)
        faster = speed_change(figures[limit], earlier.get(limit)) if limit in figures else machine
        shares[name] = moved(figure, before, faster)
    return {name: round(share, 4) for name, share in shares.items() if share is not None}
