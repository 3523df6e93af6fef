"""Minutes of trouble: agents, controller and redis-server killed and started at random, the pinglist
edited all the time. At the end every closed window is in the history, once, everything is shown
again, and nothing has grown.

PINGLOOM_SOAK_SECONDS: how long (200). PINGLOOM_SOAK_SEED: what the test printed, to have the same
troubles in the same order."""

import collections
import os
import pathlib
import random
import time
import unittest

import history
from mesh import Mesh
from processes import children, eventually

HOSTS = 16
SECONDS = int(os.environ.get("PINGLOOM_SOAK_SECONDS", 200))
PROBES = ("udp", "tcp")
MIB = 1 << 20

Last = collections.namedtuple("Last", "index pings windows seconds")
Size = collections.namedtuple("Size", "resident descriptors threads")


def size_of(pid):
    proc = pathlib.Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    return Size(int(status["VmRSS"].split()[0]) * 1024, len(list((proc / "fd").iterdir())),
                int(status["Threads"]))


class Soak(unittest.TestCase):
    def setUp(self):
        seed = int(os.environ.get("PINGLOOM_SOAK_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"PINGLOOM_SOAK_SEED={seed}", flush=True)
        self.random = random.Random(seed)
        self.shape = dict(protocols=PROBES, interval="200ms", timeout="300ms", window="2s")
        self.mesh = Mesh(self, hosts=HOSTS, **self.shape).start()
        self.everything_is_shown()

    # ---- troubles ----

    def kill_an_agent(self, steady=()):
        index = self.random.choice([i for i in range(HOSTS) if i not in steady])
        self.mesh.agents[index].kill()
        time.sleep(self.random.choice([0, 0, 0.3, 3]))
        self.mesh.start_agent(index)

    def stop_an_agent(self, steady=()):
        index = self.random.choice([i for i in range(HOSTS) if i not in steady])
        self.assertEqual(self.mesh.agents[index].stop(), 0)
        self.mesh.start_agent(index)

    def kill_the_controller(self):
        self.mesh.controller.kill()
        time.sleep(self.random.choice([0, 1, 6]))
        self.mesh.start_controller()

    def kill_redis(self):
        for pid in children(self.mesh.controller.pid, "redis-server"):
            os.kill(pid, 9)

    def edit(self):
        left_out = set(self.random.sample(range(HOSTS), self.random.choice([0, 1, 3])))
        members = [a for i, a in enumerate(self.mesh.addresses) if i not in left_out]
        shape = dict(self.shape, interval=self.random.choice(["200ms", "250ms", "400ms"]))
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(addresses=members, **shape))

    def spoil(self):
        self.mesh.write_pinglist("version: 1\nprobes: [ nonsense\n")

    def trouble(self, seconds, troubles):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.random.choice(troubles)()
            self.mesh.assert_all_alive()
            time.sleep(self.random.uniform(0.2, 3))

    # ---- what has to hold ----

    def everything_is_shown(self):
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(**self.shape))
        for probe in PROBES:
            self.mesh.wait_for_rows(probe, state="ok", seconds=60)
            eventually(lambda: self.mesh.rows(probe).keys() == self.mesh.pairs(), 30,
                       f"Redis holds the rows of {probe} and no others")

    def metric(self, index, name):
        return self.mesh.agent_metrics(index)[f"pingloom_agent_{name}"]

    def pings(self, index):
        return sum(self.metric(index, f'pings_sent_total{{protocol="{probe}"}}') for probe in PROBES)

    def end_in_order(self):
        """Stops all agents, whose open windows are closed and delivered, and starts them again with
        nothing to probe. What each of them said last: {(source, incarnation): Last}"""
        last = {}
        hosts = self.mesh.hosts()
        for index, source in enumerate(self.mesh.addresses):
            start = source, int(hosts[f"host-{index}"]["incarnation"])
            before = time.monotonic()
            said = self.pings(index), self.metric(index, "windows_closed_total")
            for name in ("spool_dropped_batches_total", "spool_damaged_records_total",
                         "windows_dropped_total"):
                self.assertEqual(self.metric(index, name), 0, f"{name} of {source}")
            self.assertEqual(self.mesh.agents[index].stop(), 0)
            last[start] = Last(index, *said, time.monotonic() - before)
        outside = [f"{self.mesh.subnet}.{200 + i}" for i in range(2)]
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(addresses=outside, **self.shape))
        for index in range(HOSTS):
            self.mesh.start_agent(index)
        eventually(lambda: all(self.metric(i, 'targets{protocol="udp"}') == 0
                               and self.metric(i, "spool_batches") == 0
                               and self.metric(i, "controller_connected") == 1
                               for i in range(HOSTS)), 60, "the spools are delivered")
        return last

    def check_history(self, last, unedited):
        """Of every start of every agent: all batches, each window once. Of the last ones all windows
        that they had closed, and of those that saw no edit every ping: an edit takes open windows of
        targets that leave with it."""
        batches = collections.defaultdict(set)
        closed = collections.Counter()
        sent = collections.Counter()
        for probe in PROBES:
            for source in self.mesh.addresses:
                counted = collections.Counter()
                for window in history.windows(self.mesh, probe, source):
                    start = source, window.incarnation
                    batches[start].add(window.sequence)
                    closed[start] += 1
                    counted.update((window.incarnation, window.index, to) for to in window.rows)
                    sent[start] += sum(row["sent"] for row in window.rows.values())
                twice = [key for key, times in counted.items() if times > 1]
                self.assertEqual(twice, [], f"{probe} {source}")
        for start, sequences in batches.items():
            self.assertEqual(sequences, set(range(1, max(sequences) + 1)), f"{start}: lost batches")
        for start, said in last.items():
            self.assertGreaterEqual(closed[start], said.windows, start)
            self.assertLessEqual(closed[start], said.windows + 3 * len(PROBES), start)
            a_second = len(PROBES) * 5 * (HOSTS - 1)
            self.assertLessEqual(sent[start], said.pings + (said.seconds + 1) * a_second, start)
            if said.index in unedited:  # but what was under way
                self.assertGreaterEqual(sent[start], said.pings - len(PROBES) * HOSTS, start)
        return len(batches), sum(closed.values())

    def assert_not_grown(self, name, before, after, room):
        self.assertLess(after.resident, before.resident + room, f"{name}: memory, {before} {after}")
        self.assertLessEqual(after.descriptors, before.descriptors + 2, f"{name}: descriptors")
        self.assertLessEqual(after.threads, before.threads, f"{name}: threads")

    def test_nothing_is_lost_or_counted_twice_and_nothing_grows(self):
        self.trouble(SECONDS / 2, [self.kill_an_agent, self.kill_an_agent, self.stop_an_agent,
                                   self.kill_the_controller, self.kill_redis, self.edit, self.spoil])
        self.everything_is_shown()
        # Now some live through all of it, and are watched.
        steady = range(4)
        watched = {f"agent {i}": self.mesh.agents[i].pid for i in steady}
        watched["controller"] = self.mesh.controller.pid
        time.sleep(5)
        before = {name: size_of(pid) for name, pid in watched.items()}
        self.trouble(SECONDS / 2, [lambda: self.kill_an_agent(steady), self.kill_redis, self.edit,
                                   lambda: self.stop_an_agent(steady), self.edit, self.spoil])
        self.everything_is_shown()
        time.sleep(5)
        for name, pid in watched.items():
            after = size_of(pid)
            print(f"{name}: {before[name]} -> {after}", flush=True)
            self.assert_not_grown(name, before[name], after,
                                  12 * MIB if name == "controller" else 4 * MIB)
        # The last starts see no edit, but a controller and a Redis that die.
        unedited = range(10, HOSTS)
        for index in unedited:
            self.mesh.agents[index].kill()
            self.mesh.start_agent(index)
        self.trouble(SECONDS / 10, [self.kill_the_controller, self.kill_redis])
        self.everything_is_shown()
        starts, windows = self.check_history(self.end_in_order(), unedited)
        print(f"{starts} starts of agents, {windows} windows", flush=True)
        self.assertLess(len(self.mesh.controller.log().splitlines()), 20 * SECONDS)


if __name__ == "__main__":
    unittest.main()
