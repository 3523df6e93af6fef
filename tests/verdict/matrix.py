#!/usr/bin/env python3
"""Inflicts faults on meshes of real processes, and checks that the right culprit is named and nobody else.

For each fault and seed it prints when the incident opened and closed, counted from the fault and from its end. Exits with 1 if
a culprit was wrong or missing, or if anybody else was accused. PINGLOOM_BIN names the folder with the programs.
"""

import argparse
import collections
import os
import pathlib
import statistics
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
# The folder of the meshes has to be known before they are imported.
from faults import FAULTS  # noqa: E402
from named_mesh import NamedMesh, share_priority  # noqa: E402

OPEN_WITHIN = 20  # seconds; what takes longer is not named
CLOSE_WITHIN = 40
HOLDS = 2  # how long an open incident is watched before its fault ends
QUIET = 10  # how long a mesh is watched after what is no fault
GOAL_OPEN, GOAL_CLOSE = 5, 10
SKIPPED = 77  # exit code where the kernel does not permit the network


class Trial:
    """One fault on a mesh."""

    def __init__(self, mesh, name, seed):
        self.mesh, self.name, self.seed = mesh, name, seed
        self.fault = FAULTS[name](mesh, seed)
        self.opened = self.closed = None
        self.kinds = {}  # of the expected: (culprit, kind): its first sentence
        self.false = {}  # culprit: its sentence
        self.before = set()  # what is open already, of a mesh with earlier trials

    def look(self):
        """Returns the open incidents; takes down who is accused."""
        try:
            accused = self.mesh.accused()
        except OSError:  # it may be stopped
            return {}
        for culprit, incident in accused.items():
            if culprit in self.fault.expected:
                self.kinds.setdefault((culprit, incident["kind"]), incident["sentence"])
            elif culprit not in self.before:
                self.false.setdefault(culprit, incident["sentence"])
        return accused

    def is_named(self, accused):
        named = [culprit for culprit, kinds in self.fault.expected.items()
                 if culprit in accused and accused[culprit]["kind"] in kinds]
        return len(named) == len(self.fault.expected) or (self.fault.one_of and named)

    def run(self):
        self.mesh.wait_until_well()
        self.before = set(self.mesh.accused())
        time.sleep(self.fault.random.uniform(0, 1))  # so that faults begin anywhere in a window
        began = self.inflict()
        if self.fault.expected:
            self.watch_opening(began)
        else:
            self.watch(QUIET)
        self.fault.end()
        ended = time.monotonic()
        if self.fault.expected and self.fault.closes:
            self.watch_closing(ended)
        elif not self.fault.expected:
            self.watch(2)
        return self

    def inflict(self):
        """Watches from another thread, because what a thread starts dies with it. Returns when the fault was there."""
        inflicted = threading.Event()

        def watch():
            while not inflicted.wait(0.05):
                self.look()

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            self.fault.begin()
            return time.monotonic()
        finally:
            inflicted.set()
            watching.join()

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(0.05)

    def watch_opening(self, began):
        while time.monotonic() - began < OPEN_WITHIN:
            if self.is_named(self.look()):
                self.opened = time.monotonic() - began
                break
            time.sleep(0.05)
        self.watch(HOLDS)
        if self.opened is not None and not self.is_named(self.look()):
            self.opened = None

    def watch_closing(self, ended):
        while time.monotonic() - ended < CLOSE_WITHIN:
            if not self.look().keys() - self.before:
                self.closed = time.monotonic() - ended
                break
            time.sleep(0.05)
        self.watch(1)

    def failure(self):
        found = []
        if self.fault.expected and self.opened is None:
            found.append(f"not named: {sorted(self.fault.expected)}, but {sorted(self.kinds)}")
        if self.false:
            found.append("also accused: " + "; ".join(self.false.values()))
        if self.fault.expected and self.fault.closes and self.closed is None:
            found.append("not closed")
        return " | ".join(found)

    def line(self):
        late = [f"{what} late" for what, took, goal in (("opened", self.opened, GOAL_OPEN), ("closed", self.closed, GOAL_CLOSE))
                if took is not None and took > goal]
        others = [f"[also as {kind}: {sentence}]" for (culprit, kind), sentence in self.kinds.items()
                  if kind not in self.fault.expected[culprit]]
        return (f"{self.name:18} {self.seed:3} {self.fault.describe():44} opened {seconds(self.opened):>5} closed "
                f"{seconds(self.closed):>5} {' '.join(late + others)} {self.failure()}").rstrip()


def seconds(took):
    return "-" if took is None else f"{took:.1f}"


def shown(times):
    times = [each for each in times if each is not None]
    return f"{statistics.median(times):.1f} / {max(times):.1f} s" if times else "-"


class Meshes:
    """Keeps one mesh for the trials that can share it."""

    def __init__(self, seed):
        self.seed = seed
        self.case, self.mesh, self.shape = None, None, None

    def of(self, fault, hosts):
        shape = (hosts or fault.hosts, fault.rails, fault.own_mesh)
        if self.mesh is None or shape != self.shape or fault.own_mesh:
            self.end()
            self.case, self.shape = unittest.TestCase(), shape
            self.mesh = NamedMesh(self.case, shape[0], fault.rails, self.seed).start()
        return self.mesh

    def end(self):
        if self.case is not None:
            self.case.doCleanups()
        self.case = self.mesh = None


def table(trials):
    """One line of docs/verdicts.md for each fault."""
    by_name = collections.defaultdict(list)
    for trial in trials:
        by_name[trial.name].append(trial)
    print("\n| fault | runs | right | opened after (median / most) | closed after | false incidents |\n|---|---|---|---|---|---|")
    for name, runs in by_name.items():
        named = sum(run.opened is not None for run in runs) if runs[0].fault.expected else "-"
        print(f"| {name} | {len(runs)} | {named} | {shown([run.opened for run in runs])} | "
              f"{shown([run.closed for run in runs])} | {sum(len(run.false) for run in runs)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help=f"faults, separated by commas, of {', '.join(FAULTS)}")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each fault (default 1)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--hosts", type=int, help="hosts of the mesh (each fault has its own default)")
    parser.add_argument("--quiet", type=float, help="how long 'nothing' is watched (default 20 s)")
    options = parser.parse_args()
    share_priority(os.getpid())
    names = options.only.split(",") if options.only else list(FAULTS)
    if options.quiet:
        FAULTS["nothing"].watched = options.quiet
    trials, meshes = [], Meshes(options.first)
    shape_of = {name: (FAULTS[name].own_mesh, FAULTS[name].hosts, FAULTS[name].rails) for name in names}
    status = 0
    try:
        for shape in dict.fromkeys(shape_of.values()):
            for seed in range(options.first, options.first + options.seeds):
                for name in (each for each in names if shape_of[each] == shape):
                    mesh = meshes.of(FAULTS[name], options.hosts)
                    trials.append(Trial(mesh, name, seed).run())
                    print(trials[-1].line(), flush=True)
    except unittest.SkipTest as reason:
        print(f"skipped: {reason}")
        status = SKIPPED
    finally:
        meshes.end()
        table(trials)
    sys.exit(1 if any(trial.failure() for trial in trials) else status)


if __name__ == "__main__":
    main()
