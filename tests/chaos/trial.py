"""One fault: inflicted, taken back, recovered from, and accounted for."""

import collections
import time

from processes import eventually

PATIENCE = 90.0
HOLDS = 1.5  # agents and controller publish what they are once a second
MIB = 1 << 20

Result = collections.namedtuple("Result", "fault rows lost twice wrong unseen connected shown peaks descriptors open failure")


def timed(wrong, since):
    """When it began that nothing was wrong for HOLDS seconds."""
    good_since = None

    def holds():
        nonlocal good_since
        now = time.monotonic()
        try:
            well = not wrong()
        except (OSError, EOFError):
            good_since = None
            raise
        good_since = (good_since or now) if well else None
        return well and now - good_since >= HOLDS

    eventually(holds, PATIENCE, wrong, interval=0.05)
    return good_since - since


def grown(before, after):
    """The most descriptors that a process has won which lived through it."""
    return max((after[name] - before[name] for name in before.keys() & after.keys()), default=0)


def most(descriptors):
    """{kind of process: the most that one of them has open}"""
    counts = collections.Counter()
    for (name, _), count in descriptors.items():
        kind = name.rstrip("-0123456789")
        counts[kind] = max(counts[kind], count)
    return dict(counts)


def apart(world, fault):
    outcome = fault.inflict(world)
    return Result(fault, outcome.rows, outcome.lost, outcome.twice, 0, 0, outcome.connected, outcome.shown,
                  outcome.peaks, 0, {}, outcome.failure)


def run(world, fault):
    if fault.apart:
        return apart(world, fault)
    failure = ""
    connected = shown = PATIENCE
    before = world.descriptors()
    newest = world.newest()
    world.vitals.take_peaks()
    world.lifted_at = None
    excused = 0
    try:
        excused = fault.inflict(world) or 0
    except AssertionError as reason:
        failure = str(reason)
    since = world.lifted_at or time.monotonic()
    try:
        newest.update(world.newest())
    except OSError:
        pass  # Redis is not there yet; what it showed before is old enough
    try:
        connected = timed(world.unconnected, since)
        shown = timed(lambda: world.amiss(newest), since)
        world.assert_all_alive()
    except AssertionError as reason:
        failure += str(reason)
    unheld = world.settle(excused)
    audit = world.accounts.audit(unheld)
    after = world.descriptors()
    result = Result(fault, audit.rows, abs(audit.lost - excused), audit.twice,
                  audit.altered + audit.unknown, world.unseen(), connected, shown, world.vitals.take_peaks(),
                  grown(before, after), most(after), failure)
    if fault.undo and not failure:
        fault.undo(world)
        eventually(lambda: not world.amiss({}), PATIENCE, lambda: world.amiss({}))
    return result


def only_slow(result):
    """All that it missed is time."""
    return missed(result) and not missed(result._replace(connected=0, shown=0))


def missed(result, shared=False):
    """The goals that this one missed, in words; without those of time where the machine is shared."""
    misses = []
    for what in ("lost", "twice", "wrong"):
        if getattr(result, what):
            misses.append(f"{getattr(result, what)} rows {what}")
    if result.unseen:
        misses.append(f"{result.unseen} pings or batches in no row")
    for what in ("connected", "shown"):
        if getattr(result, what) > result.fault.goal and not shared:
            misses.append(f"{what} after {getattr(result, what):.1f} s")
    if result.descriptors > 4:
        misses.append(f"{result.descriptors} more descriptors")
    if result.failure:
        misses.append(result.failure)
    return misses


def growth(results):
    """What is larger in the last third of a long run than in the first, in words; of processes that have been killed
    many times, so it is what lies on disk, or what they are told, that makes them grow."""
    results = [result for result in results if not result.fault.apart]
    third = len(results) // 3
    if third < 10:
        return []
    grew = []
    for what, kind, room in (("peaks", "controller", 12 * MIB), ("peaks", "agent", 4 * MIB), ("open", "controller", 4),
                             ("open", "agent", 4)):
        early, late = (max(getattr(result, what).get(kind, 0) for result in part)
                       for part in (results[:third], results[-third:]))
        if late > early + room:
            grew.append(f"{kind}: {what} from {early} to {late}")
    return grew
