#!/usr/bin/env python3
"""A fleet of simulated agents (bench/fleet/agents_main.cpp) against three controllers, while each controller,
PostgreSQL's primary and a master of the Redis Cluster are killed in turn. Ends with 1 if a batch is missing in the history
or there twice, or a survivor does not show every pair again."""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parents[1] / "bench/report")]

import faults  # noqa: E402
import figures  # noqa: E402
from controllers import Controller  # noqa: E402
from processes import binary, eventually  # noqa: E402
from several_controllers import SeveralControllers  # noqa: E402
from vitals import resident  # noqa: E402
from world import Case  # noqa: E402

DEFAULT_BIN = HERE.parents[1] / "build" / "release" / "bin"
PROBE = "fleet"
INFLICTED = ("leader_killed", "follower_killed", "database_killed", "redis_master_killed", "all_but_one_killed")
PAUSE = 20.0  # seconds between a recovery and the next fault
PATIENCE = 90.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=2000, metavar="N", help="default: 2000")
    parser.add_argument("--rows", type=int, default=100, metavar="N", help="of each agent in a window (default: 100)")
    parser.add_argument("--window", type=int, default=5, metavar="SECONDS", help="default: 5")
    parser.add_argument("--seconds", type=int, default=600, metavar="N", help="default: 600")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="decides which controllers are killed (default: 1)")
    return parser.parse_args()


class FleetWorld(SeveralControllers):
    """Its hosts run the controllers and what they share; the agents are one process."""

    def __init__(self, case, given):
        super().__init__(case, 0, given.seed, (), Controller)
        self.given = given
        self.write_pinglist(subprocess.run([*self._agents(), "--pinglist"], capture_output=True, text=True, check=True).stdout)

    def _agents(self):
        return [binary("fleet_agents"), "--agents", str(self.given.agents), "--rows", str(self.given.rows), "--window",
                f"{self.given.window}s", "--seconds", str(self.given.seconds)]

    def start(self):
        self.add_replica()
        for one in self.controllers:
            one.start()
        self.fleet = self.run("fleet", *self._agents(), "--controllers", *(one.address for one in self.controllers))
        return self

    def amiss(self):
        """What is wrong; nothing once every agent is home and every controller that runs shows every pair as ok."""
        assert self.fleet.running(), self.fleet.tail()
        running = self.running()
        pairs = self.given.agents * self.given.rows
        members = running[0].get("/api/v1/controllers").json()["controllers"]
        agents = sum(member["agents"] for member in members)
        wrong = [] if (len(members), agents) == (len(running), self.given.agents) else [f"{len(members)} controllers, {agents} agents"]
        for one in running:
            shown = one.get("/api/v1/status").json()
            ok = shown["pairs"].get("ok", 0)
            if ok != pairs or not shown["redis"]["connected"] or not shown["history"]["writing"]:
                wrong.append(f"{one.name}: {ok} pairs ok, {shown['redis']}, {shown['history']}")
        return wrong or self._missing_in_redis(pairs)

    def _missing_in_redis(self, pairs):
        key, found = f"pingloom:sources:{PROBE}", 0
        keys = [f"pingloom:latest:{PROBE}:{source}" for source in self.redis_cluster.master_of(key)("SMEMBERS", key)]
        for master in self.redis_cluster.masters:
            with master.connection() as redis:
                found += sum(redis("HLEN", key) for key in keys if self.redis_cluster.master_of(key) is master)
        return [] if found == pairs else [f"{found} rows in Redis"]

    def well(self):
        """Seconds until nothing is wrong."""
        begin = time.monotonic()
        eventually(lambda: not self.amiss(), PATIENCE, self.amiss, interval=0.2)
        return time.monotonic() - begin


def inflict(world, name):
    fault = faults.ALL[name]
    fault.inflict(world)
    took = time.monotonic() - world.lifted_at + world.well()
    killed = [one.name for one in world.controllers if not one.process.running()]
    peak = max(resident(one.process.pid) for one in world.running()) >> 20
    print(f"{name} {' '.join(killed)}: all pairs of {world.given.agents} agents shown by all that run after {took:.1f} s; "
          f"a controller has {peak} MiB", flush=True)
    if fault.undo:
        fault.undo(world)
        world.well()


def account(world):
    """What is not as it has to be, in words."""
    found = figures.parse(world.fleet.log())
    closed = int(found["batches closed"].median)
    there, distinct = (int(number) for number in world.primary.sql(
        "SELECT count(*), count(DISTINCT (source, incarnation, sequence)) FROM blocks WHERE minute = 0", "pingloom")[0].split("|"))
    print(f"{closed} batches closed, {closed * world.given.rows} rows; {there} in the history, {distinct} of them different; "
          f"the longest wait for an acknowledgement was {found['longest wait for an acknowledgement'].median / 1000:.1f} s", flush=True)
    return [] if closed == there == distinct else [f"{closed - distinct} batches lost, {there - distinct} twice"]


def main():
    given = arguments()
    os.environ.setdefault("PINGLOOM_BIN", str(DEFAULT_BIN))
    faults.load()
    print(f"--seed {given.seed} --agents {given.agents} --rows {given.rows} --window {given.window}, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    case = Case()
    try:
        world = FleetWorld(case, given).start()
        begin = time.monotonic()
        print(f"first shown after {world.well():.1f} s", flush=True)
        order = itertools.chain(INFLICTED, (world.random.choice(INFLICTED) for _ in itertools.count()))
        while time.monotonic() + PAUSE + 40 < begin + given.seconds:
            time.sleep(PAUSE)
            inflict(world, next(order))
        assert world.fleet.process.wait(given.seconds + 200) == 0, world.fleet.tail()
        misses = account(world)
    finally:
        case.end()
    print("\n".join(misses) if misses else "every batch is in the history once", flush=True)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
