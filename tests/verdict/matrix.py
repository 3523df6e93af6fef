#!/usr/bin/env python3
"""Inflicts faults on a mesh of real processes, and checks that the right culprit is named and nobody else.

For each fault and seed it prints when the incident opened and closed, counted from the fault and from its end. Exits with 1 if
a culprit was wrong or missing, or if anybody else was accused. PINGLOOM_BIN names the folder with the programs.
"""

import argparse
import pathlib
import statistics
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
# The folder of the meshes has to be known before they are imported.
from faults import FAULTS, RACK  # noqa: E402
from mesh import Mesh  # noqa: E402
from processes import eventually  # noqa: E402

OPEN_WITHIN = 30  # seconds
CLOSE_WITHIN = 40
QUIET = 15  # how long a mesh without a fault is watched


class NamedMesh(Mesh):
    """Hosts with names, in racks."""

    def __init__(self, case, hosts, protocols):
        self.protocols = protocols
        super().__init__(case, hosts=hosts)
        self.names = [f"gpu-{i + 1}" for i in range(hosts)]
        self.write_pinglist(self.pinglist())

    def pinglist(self, without=None):
        hosts = "\n".join(f"  {name}: {{ address: {self.addresses[i]}, rack: r{i // RACK + 1} }}"
                          for i, name in enumerate(self.names))
        members = ", ".join(name for i, name in enumerate(self.names) if i != without)
        probes = "\n".join(f"  - {{ name: {each}, protocol: {each}, mesh: [{members}] }}" for each in self.protocols)
        return ("version: 1\ndefaults: { interval: 100ms, timeout: 300ms, window: 1s }\n"
                f"hosts:\n{hosts}\nprobes:\n{probes}\n")


class Run:
    """One fault with one seed, on a mesh of its own."""

    def __init__(self, name, seed, hosts):
        self.case = unittest.TestCase()
        self.mesh = NamedMesh(self.case, hosts, ("rdma",))
        self.fault = FAULTS[name](self.mesh, seed)
        self.wrong = set()
        self.right = set()
        self.opened = self.closed = None

    def verdict(self):
        return self.mesh.get("/api/v1/incidents").json()

    def look(self):
        verdict = self.verdict()
        accused = {(each["kind"], each["culprit"]) for each in verdict["open"]}
        lately = {each["culprit"] for each in verdict["recent"]}
        self.right |= accused & self.fault.expected
        allowed = {culprit for _, culprit in self.fault.expected}
        # The same culprit may be known by another kind for a moment.
        self.wrong |= {culprit for _, culprit in accused} - allowed
        self.wrong |= lately - allowed
        return accused

    def run(self):
        try:
            self.mesh.start()
            self.mesh.wait_for_rows("rdma", state="ok", seconds=90)
            time.sleep(6)
            began = time.monotonic()
            self.fault.begin()
            self.watch(began)
            ended = time.monotonic()
            self.fault.end()
            if self.fault.expected:
                eventually(lambda: not self.look(), CLOSE_WITHIN, lambda: f"all closed; open: {self.verdict()['open']}",
                           interval=0.2)
                self.closed = time.monotonic() - ended
        finally:
            self.case.doCleanups()
        return self

    def watch(self, began):
        limit = OPEN_WITHIN if self.fault.expected else QUIET
        watched = time.monotonic()
        while time.monotonic() - watched < limit:
            self.look()
            if self.fault.expected and self.right == self.expected_now():
                self.opened = time.monotonic() - began
                time.sleep(3)  # whether it stays so
                self.look()
                return
            time.sleep(0.1)

    def expected_now(self):
        """All of several culprits, or one of several names of a culprit."""
        culprits = {culprit for _, culprit in self.fault.expected}
        named = {culprit for _, culprit in self.right}
        several = self.fault.__class__.__name__ == "TwoHosts"
        return self.right if (named == culprits if several else named) and named else None

    def failure(self):
        if self.wrong:
            return f"also accused: {sorted(self.wrong)}"
        if self.fault.expected and self.opened is None:
            return f"not named: {sorted(self.fault.expected)}"
        return ""


def shown(times):
    times = [each for each in times if each is not None]
    return f"{statistics.median(times):.1f} ({min(times):.1f} .. {max(times):.1f}) s" if times else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", help=f"faults, separated by commas, of {', '.join(FAULTS)}")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each fault (default 1)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--hosts", type=int, default=12, help="hosts of the mesh (default 12)")
    options = parser.parse_args()
    failed = 0
    for name in options.only.split(",") if options.only else FAULTS:
        runs = []
        for seed in range(options.first, options.first + options.seeds):
            run = Run(name, seed, options.hosts).run()
            runs.append(run)
            if run.failure():
                failed += 1
                print(f"{name} seed {seed}: {run.failure()}", flush=True)
        right = sum(not run.failure() for run in runs)
        print(f"{name:20} right {right} of {len(runs)}; opened after {shown([run.opened for run in runs])}; "
              f"closed after {shown([run.closed for run in runs])}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
