#!/usr/bin/env python3
"""Inflicts faults on a whole mesh of real processes, one after the other, and counts after each what was
lost, what was counted twice, and how long it took to recover. Ends with 1 when a goal was missed: nothing
lost, nothing twice, recovered in time (5 s, or 10 s where a controller's lease has to end), nothing grown."""

import argparse
import os
import pathlib
import random
import shutil
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration")]

import faults  # noqa: E402
import report  # noqa: E402
import selftest  # noqa: E402
import trial  # noqa: E402
from one_controller import OneController  # noqa: E402
from several_controllers import SeveralControllers  # noqa: E402
from world import Case  # noqa: E402

DEFAULT_BIN = HERE.parents[1] / "build" / "release" / "bin"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0, metavar="N",
                        help="go on for so long; each of the faults happens once at least (default: once)")
    parser.add_argument("--seed", type=int, default=None, metavar="S", help="what an earlier run printed")
    parser.add_argument("--faults", default="", metavar="A,B", help="these only (default: all that this machine permits)")
    parser.add_argument("--hosts", type=int, default=4, metavar="N", help="hosts of the mesh, 2 to 64 (default: 4)")
    parser.add_argument("--shared", action="store_true",
                        help="others keep this machine busy: times to recovery are printed and not judged")
    parser.add_argument("--list", action="store_true", help="print the faults as a table and end")
    given = parser.parse_args()
    known = faults.load()
    given.faults = [name for name in given.faults.split(",") if name] or list(known)
    for name in given.faults:
        if name not in known:
            parser.error(f"no fault is called '{name}'; --list shows them")
    if not 2 <= given.hosts <= 64:
        parser.error("--hosts: 2 to 64")
    return given


def permitted(world, names):
    for name in names:
        missing = [need for need in faults.ALL[name].needs if not world.has(need)]
        if missing:
            print(f"{name}: left out, for there is no {' nor '.join(missing)} here", flush=True)
        else:
            yield name


def rounds(names, seconds, order):
    """Names in shuffled rounds: the first is whole, the others go on until the time is over."""
    end = time.monotonic() + seconds
    first = True
    while first or time.monotonic() < end:
        for name in order.sample(names, len(names)):
            if first or time.monotonic() < end:
                yield name
        first = False


def say(begin, result, misses):
    print(f"[{time.monotonic() - begin:5.1f} s] {result.fault.name}: {result.rows} rows, {result.lost} lost, "
          f"{result.twice} twice; connected after {result.connected:.1f} s, all shown after {result.shown:.1f} s"
          + "".join(f"\n    MISSED: {miss}" for miss in misses), flush=True)


def chaos(world, given, names):
    """All results, and what they missed, in words. What was only slow is tried once more: others may have kept the
    machine busy. Both are in the table."""
    results, missed = [], []
    names = list(permitted(world, names))
    for name in rounds(names, given.seconds, world.random):
        for again in (False, True):
            begin = time.monotonic()
            result = trial.run(world, faults.ALL[name])
            results.append(result)
            misses = trial.missed(result, given.shared)
            say(begin, result, misses)
            if again or not misses or not trial.only_slow(result):
                break
            print("    once more", flush=True)
        missed += [f"{name}: {miss}" for miss in misses]
        if result.failure:
            break
    return results, missed


def try_world(kind, given, names, seed):
    """Results, and what was missed, of these faults in a world of its own."""
    case = Case()
    try:
        world = kind(case, given.hosts, seed, protocols=("udp", "tcp"))
        world.shared = given.shared
        world.start()
        results, misses = chaos(world, given, names)
        misses += trial.growth(results)
        misses += [f"the accounting did not see {what}"
                   for what in selftest.run(world.tap_file, world.history_file(), world.directory)]
        if misses:
            shutil.copytree(world.directory, "chaos-failed", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))
        return results, misses
    except unittest.SkipTest as reason:
        print(f"{', '.join(names)}: left out: {reason}", flush=True)
        return [], []
    finally:
        case.end()


def main():
    given = arguments()
    if given.list:
        print(report.catalogue(faults.ALL.values()))
        return 0
    os.environ.setdefault("PINGLOOM_BIN", str(DEFAULT_BIN))
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    print(f"--seed {seed} --hosts {given.hosts}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    results, misses = [], []
    for kind in (OneController, SeveralControllers):
        names = [name for name in given.faults if ("several" in faults.ALL[name].needs) == (kind is SeveralControllers)]
        if names:
            found, missed = try_world(kind, given, names, seed)
            results += found
            misses += missed
    print(f"\nload {os.getloadavg()[0]:.1f} at the end\n\n{report.table(results)}\n")
    print("the accounting was tried on spoilt copies of this history: it sees a lost, doubled, altered and made-up row")
    met = "every goal was met" + (" but those of time, which were not judged" if given.shared else "")
    print("\n".join(misses) if misses else met, flush=True)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
