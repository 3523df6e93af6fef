"""Metric pages from end to end on soft devices: applications, agents, collectors and what they show.

Every application writes groups of values that follow from its own number and a count, so whatever is shown proves by
itself whose it is, and that it was written together."""

import collections
import json
import pathlib
import re
import shutil
import signal
import tempfile
import time
import unittest
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from mesh import free_port, private_subnet
from pages_hosts import pages_address, pages_socket, write_agent_config
from processes import Process, binary, eventually
from written_pages import WrittenPages


class Pages(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-pages-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.subnet = private_subnet()
        self.processes = []
        self.addCleanup(self.end)
        self.agents, self.collectors, self.urls = {}, {}, {}
        self.seen = collections.defaultdict(lambda: WrittenPages(self))  # by collector
        self.pids = {}  # by identity

    def end(self):
        outcome = self._outcome
        if getattr(getattr(outcome, "result", None), "failures", None) or getattr(outcome.result, "errors", None):
            for process in self.processes:
                if not process.name.startswith("writer"):
                    print(f"--- {process.name}\n{process.tail()}")
        for process in self.processes:
            process.discard()

    def run_one(self, name, *arguments, environment=None):
        process = Process(name, list(arguments), self.directory / f"{name}.log", environment)
        self.processes.append(process)
        return process

    # ---- who takes part ----

    def agent_address(self, number):
        return pages_address(self.subnet, number)

    def socket(self, number):
        return pages_socket(self.directory, number)

    def start_agent(self, number):
        path = write_agent_config(self.directory, self.subnet, number)
        self.agents[number] = self.run_one(f"agent-{number}", binary("pingloom-agent"), "--config", str(path))

    def start_collector(self, name="collector", address=200, agents=(1, 2), more=()):
        path = self.directory / f"{name}.yaml"
        host = f"{self.subnet}.{address}"
        port = free_port(host)
        listed = [self.agent_address(number) for number in agents] + list(more)
        path.write_text(f"""address: {host}
device: soft
agents: [{", ".join(listed)}]
interval: 20ms
http: {host}:{port}
""")
        self.urls[name] = f"http://{host}:{port}"
        self.collectors[name] = self.run_one(name, binary("pingloom-collector"), "--config", str(path))

    def writer(self, number, identity, pages=2, seconds=600):
        process = self.run_one(f"writer-{identity}", binary("pages_writer"), str(identity), str(pages), str(seconds), "1",
                               environment={"PINGLOOM_PAGES_SOCKET": str(self.socket(number))})
        self.pids[identity] = process.pid
        return process

    def start_all(self):
        for number in (1, 2):
            self.start_agent(number)
        self.start_collector()
        self.one, self.two = self.writer(1, 1000), self.writer(2, 2000)
        self.moving({(1, 1000), (2, 2000)})

    # ---- what is shown ----

    def get(self, path, collector="collector", accept="text/plain"):
        request = urllib.request.Request(self.urls[collector] + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def look(self, collector="collector"):
        """Checks all that is shown. The (host, identity) of pages that are shown, with their counts."""
        _, counts = self.seen[collector].look(self.get("/metrics", collector), self.pids)
        return {(int(host.removeprefix("host-")), identity): count for (host, identity, _), count in counts.items()}

    def moving(self, wanted, collector="collector", seconds=60):
        first = {}

        def moved():
            shown = self.look(collector)
            for key in wanted & shown.keys():
                first.setdefault(key, shown[key])
            return all(shown.get(key, 0) > first.get(key, shown.get(key, 0)) for key in wanted)

        eventually(moved, seconds, f"{wanted} are shown and move at {collector}", 0.2)

    def own(self, name, collector="collector"):
        """The collector's figures of each agent."""
        found = re.findall(rf'^{name}\{{agent="([^"]*)"[^}}]*\}} (\S+)$', self.get("/metrics", collector), re.M)
        return {agent.rsplit(":", 1)[0]: float(value) for agent, value in found}

    # ---- tests ----

    def test_values_are_live_and_valid_in_both_formats(self):
        self.start_all()
        text = list(parse_text(self.get("/metrics")))
        metrics = list(parse_openmetrics(self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")))
        for families, counter in ((text, "lab_writes"), (metrics, "lab_writes")):
            names = [family.name for family in families]
            self.assertEqual(len(names), len(set(names)), "a family is there once")
            writes = next(family for family in families if family.name == counter)
            self.assertEqual(writes.type, "counter")
            self.assertEqual(len(writes.samples), 4, writes.samples)
        latency = next(family for family in metrics if family.name == "pingloom_collector_read_latency_seconds")
        self.assertEqual(latency.type, "histogram")
        self.assertEqual(json.loads(self.get("/healthz")), {"agents": 2, "reading": 2})

    def test_whoever_is_killed_comes_back(self):
        self.start_all()
        everyone = {(1, 1000), (2, 2000)}
        self.agents[1].kill()
        self.moving({(2, 2000)})
        self.start_agent(1)
        self.moving(everyone)
        self.collectors["collector"].kill()
        self.start_collector()
        self.moving(everyone)
        self.one.kill()
        eventually(lambda: (1, 1000) not in self.look(), 20, "one that has ended is shown no more")
        self.one = self.writer(1, 1001)
        self.moving({(1, 1001), (2, 2000)})

    def test_applications_that_come_and_go_are_never_mixed_up(self):
        self.start_all()
        begin, started, seen = time.monotonic(), [], set()
        while time.monotonic() - begin < 10:
            while len(started) < 10 * (time.monotonic() - begin):
                identity = 10_000 + len(started)
                started.append(self.writer(1 + identity % 2, identity, pages=1, seconds=2))
            seen |= {identity for _, identity in self.look() if identity >= 10_000}
        self.assertGreaterEqual(len(started), 90)
        for writer in started:
            self.assertEqual(writer.process.wait(60), 0, writer.log())
        eventually(lambda: all(identity < 10_000 for _, identity in self.look()), 20, "those that went are gone")
        self.assertGreaterEqual(len(seen), len(started) // 2)
        self.moving({(1, 1000), (2, 2000)})
        self.assertEqual(self.own("pingloom_collector_failures_total"),
                         {self.agent_address(1): 0, self.agent_address(2): 0}, "ranges came and went unnoticed")

    def test_one_that_is_stopped_leaves_until_it_goes_on(self):
        self.start_all()
        self.one.signal(signal.SIGSTOP)
        eventually(lambda: (1, 1000) not in self.look(), 20, "a stopped application is stale")
        self.assertIn((2, 2000), self.look())
        states = [page["state"] for agent in json.loads(self.get("/api/v1/pages"))["agents"]
                  for page in agent["pages"] if page["application"] == "writer-1000"]
        self.assertEqual(set(states), {"stale"})
        self.one.signal(signal.SIGCONT)
        self.moving({(1, 1000)})

    def test_two_collectors_and_agents_that_are_not_there(self):
        self.start_all()
        dead = f"{self.subnet}.150"
        self.start_collector("second", 201, more=[dead])
        self.moving({(1, 1000), (2, 2000)}, "second")
        before = self.own("pingloom_collector_rounds_total", "second")
        time.sleep(3)
        after = self.own("pingloom_collector_rounds_total", "second")
        for number in (1, 2):
            rounds = after[self.agent_address(number)] - before[self.agent_address(number)]
            self.assertGreater(rounds, 75, "half of what was asked for, on a busy machine")
        self.assertEqual(self.own("pingloom_collector_agent_up", "second")[dead], 0)
        self.moving({(1, 1000), (2, 2000)})
        # One that hangs is noticed, and the other one goes on.
        self.agents[1].signal(signal.SIGSTOP)
        eventually(lambda: self.own("pingloom_collector_agent_up")[self.agent_address(1)] == 0, 20, "it is noticed")
        self.moving({(2, 2000)})
        self.agents[1].signal(signal.SIGCONT)
        self.moving({(1, 1000), (2, 2000)})


if __name__ == "__main__":
    unittest.main()
