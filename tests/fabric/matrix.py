#!/usr/bin/env python3
"""Inflicts faults on a fabric with real agents, and checks that each is named, by its name in the topology file, and that nobody
else is accused.

It prints for each fault when its incident opened and closed, counted from the fault and from its end, and a table at the end.
Exits with 1 if a culprit was wrong, missing or late. PINGLOOM_BIN names the folder with the programs.
"""

import argparse
import collections
import json
import random
import statistics
import sys
import time

from fabric_mesh import SKIPPED, WINDOW, FabricMesh, NotPermitted, Resp, fabric, run_in_child

LEAVES, SPINES, HOSTS = 4, 4, 8
OPEN_WITHIN = 3 * WINDOW + 1  # seconds; a fault begins somewhere in the first window
CLOSE_WITHIN = 60
FEWEST_FLOWS = 3  # a black hole of fewer stays an incident of its pairs, see docs/localisation.md


class Kind:
    """A kind of fault: how one is drawn, and the incidents that name it."""

    def __init__(self, kind, amounts):
        self.kind, self.amounts = kind, amounts

    def draw(self, seed):
        """(fault, {(kind, name) that are right})"""
        rng = random.Random(seed)
        leaf, spine = f"leaf{rng.randrange(LEAVES)}", f"spine{rng.randrange(SPINES)}"
        amount = rng.choice(self.amounts)
        if self.kind == "switch":
            return f"switch={spine},{amount}", {("switch", spine)}
        if self.kind == "cable":
            return f"cable={leaf}-{spine},{amount}", {("cable", f"{leaf} - {spine}")}
        one, other = (leaf, spine) if rng.random() < 0.5 else (spine, leaf)
        return f"{self.kind}={one}-{other},{amount}", {("link", f"{one} -> {other}")}


KINDS = {
    "link": Kind("link", ["10%", "30%", "60%"]),
    "dead": Kind("link", ["100%"]),
    "cable": Kind("cable", ["10%", "30%", "100%"]),
    "switch": Kind("switch", ["5%", "30%", "100%"]),
    "blackhole": Kind("blackhole", ["14%", "25%"]),
    "faint": Kind("link", ["3%"]),
    "slow": Kind("link", ["300us", "1ms", "3ms"]),
    "slowcable": Kind("cable", ["300us", "1ms", "3ms"]),
    "slowswitch": Kind("switch", ["300us", "1ms", "3ms"]),
}


def accused(mesh):
    """{(kind, name): sentence and candidates}"""
    found = {}
    for incident in mesh.open_incidents():
        names = {(each["kind"], each["culprit"]) for each in incident["candidates"]}
        found[incident["kind"], incident["culprit"]] = (incident["sentence"], names)
    return found


def watch(mesh, right, seconds, wrong):
    """When one of `right` was named, as the culprit or among what cannot be told from it; None if it was not in time."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        for culprit, (sentence, candidates) in accused(mesh).items():
            if culprit in right or candidates & right:
                return time.monotonic() - began, culprit in right, sentence
            wrong.setdefault(culprit, sentence)
        time.sleep(0.2)
    return None


def wait_until_quiet(mesh):
    began = time.monotonic()
    while accused(mesh):
        if time.monotonic() - began > CLOSE_WITHIN:
            return None
        time.sleep(0.2)
    return time.monotonic() - began


def flows_without_answers(mesh):
    """How many flows lost all of their newest window."""
    count = 0
    with Resp(mesh.directory / "redis.sock") as redis:
        for address in mesh.hosts.values():
            rows = [json.loads(row) for row in redis("HVALS", f"pingloom:latest:rdma:{address}")]
            count += sum("path" in row and row["sent"] > 0 and row["lost"] == row["sent"] for row in rows)
    return count


def trial(mesh, name, seed):
    """None if the fault hits too few flows to be named; the connections draw which ones a black hole hits."""
    fault, right = KINDS[name].draw(f"{name} {seed}")
    time.sleep(random.Random(seed).uniform(0, WINDOW))
    wrong = {}
    fabric("fault", "add", fault)
    named = watch(mesh, right, OPEN_WITHIN, wrong)
    hit = flows_without_answers(mesh) if name == "blackhole" and not named else FEWEST_FLOWS
    fabric("fault", "clear")
    if not named:
        time.sleep(2 * WINDOW)  # it may be named late, which the next trial must not see
    closed = wait_until_quiet(mesh)
    if hit < FEWEST_FLOWS:
        print(f"{fault}: it hits {hit} flows, and does not count", flush=True)
        return None
    if named:
        exact = "" if named[1] else " (as a candidate)"
        print(f"{fault}: named after {named[0]:.1f} s{exact}: {named[2]}")
    else:
        print(f"{fault}: NOT NAMED within {OPEN_WITHIN} s")
    for culprit, sentence in wrong.items():
        print(f"{fault}: WRONG: {culprit[0]} {culprit[1]}: {sentence}")
    print(f"{fault}: " + (f"closed {closed:.1f} s after its end" if closed is not None else "STILL OPEN"), flush=True)
    return named, wrong, closed


def watch_without_faults(mesh, seconds):
    """What is accused meanwhile although nothing is wrong."""
    wrong, began = {}, time.monotonic()
    while time.monotonic() - began < seconds:
        for culprit, (sentence, _) in accused(mesh).items():
            if culprit not in wrong:
                print(f"WRONG after {time.monotonic() - began:.0f} s: {sentence}", flush=True)
            wrong.setdefault(culprit, sentence)
        time.sleep(1)
    return list(wrong.values())


def run(options):
    try:
        mesh = FabricMesh(f"{LEAVES}x{SPINES}x{HOSTS}")
    except NotPermitted as reason:
        print(f"not permitted here: {reason}")
        return SKIPPED
    results = collections.defaultdict(list)
    try:
        mesh.start()
        began = time.monotonic()
        mesh.wait_until_traced()
        print(f"{mesh.flows()[1]} flows were traced after {time.monotonic() - began:.1f} s", flush=True)
        bad = [f"before any fault: {sentence}" for sentence in watch_without_faults(mesh, options.clean)]
        for seed in range(options.seed, options.seed + options.runs):
            for name in options.only:
                result = trial(mesh, name, seed)
                if result:
                    results[name].append(result)
    finally:
        mesh.stop()
    return report(results, bad)


def report(results, bad):
    print("\n| fault | runs | named | exactly | wrong | named after, median (most) | closed after, median (most) |\n"
          "|---|---|---|---|---|---|---|")
    for name, trials in results.items():
        named = [each[0] for each in trials if each[0]]
        wrong = sum(len(each[1]) for each in trials)
        closed = [each[2] for each in trials if each[2] is not None]
        if len(named) < len(trials) or wrong or len(closed) < len(trials):
            bad.append(f"{name}: {len(named)} of {len(trials)} named, {wrong} wrong, {len(closed)} closed")
        times = [each[0] for each in named]
        print(f"| {name} | {len(trials)} | {len(named)} | {sum(each[1] for each in named)} | {wrong} | {spread(times)} |"
              f" {spread(closed)} |")
    for line in bad:
        print(line)
    return 1 if bad else 0


def spread(times):
    return f"{statistics.median(times):.1f} s ({max(times):.1f} s)" if times else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(KINDS), help=f"of {', '.join(KINDS)}, separated by commas")
    parser.add_argument("--runs", type=int, default=1, help="faults of each kind (default 1)")
    parser.add_argument("--clean", type=float, default=2 * WINDOW,
                        help="seconds before the first fault in which nothing may be accused (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.only = options.only.split(",")
    for name in options.only:
        if name not in KINDS:
            parser.error(f"there is no fault '{name}'")
    sys.exit(run_in_child(lambda: run(options)))


if __name__ == "__main__":
    main()
