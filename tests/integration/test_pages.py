"""Metric pages from end to end on soft devices: applications, agents, collectors and what they show."""

import json
import signal
import time
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from pages_case import PagesCase
from processes import eventually


class Pages(PagesCase):
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
        self.start_collector("second", [201], more=[dead])
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
