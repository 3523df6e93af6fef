"""Metric pages from end to end on soft devices: applications, agents, collectors and what they show."""

import collections
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from pages_case import PagesCase
from processes import binary, eventually


ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES_PORT = 20714
ESTABLISHED = "01"  # in /proc/net/tcp


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

    def test_owners_that_disagree_on_a_kind_are_both_shown(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        program = """import sys, time, pingloom_pages
pages = pingloom_pages.Pages(sys.argv[1])
if sys.argv[2] == "gauge":
    pages.gauge("jobs_total", labels={"path": 'a"b'}).set(1.5)
else:
    pages.counter("jobs_total").add(7)
pages.counter("process_cpu_seconds_total").add(3)
time.sleep(600)
"""
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
                       "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1]
                                                     / "lib/libpingloom-pages.so")}
        families = {}

        def shown(name):
            families.clear()
            families.update((family.name, family) for family in parse_text(self.get("/metrics")))
            return name in families

        for application, kind, name in (("first", "gauge", "jobs_total"), ("later", "counter", "jobs_counter")):
            self.run_one(application, sys.executable, "-B", "-c", program, application, kind, environment=environment)
            eventually(lambda: shown(name), 60, f"the {kind} is shown as {name}", 0.2)
        values = {name: [(sample.labels["application"], sample.value) for sample in families[name].samples]
                  for name in ("jobs_total", "jobs_counter")}
        self.assertEqual(values, {"jobs_total": [("first", 1.5)], "jobs_counter": [("later", 7)]})
        self.assertEqual(families["jobs_total"].samples[0].labels["path"], 'a"b')
        self.assertEqual({sample.labels.get("application") for sample in families["process_cpu_seconds"].samples},
                         {None, "first", "later"}, "the collector's own has no labels")
        command = [binary("pingloom"), "pages", "--url", self.urls["collector"]]
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        warnings = [line for line in lines if line.startswith("warning: ")]
        self.assertEqual(len(warnings), 1, lines)
        self.assertRegex(warnings[0], "counter 'jobs_total' of application 'later' .* is shown as 'jobs_counter_total', "
                                      "because the gauge 'jobs_total' of application 'first' .* came first")
        self.assertIn('jobs_total{path="a\\"b"}', "\n".join(lines))
        self.assertEqual(self.collectors["collector"].log().count(warnings[0].removeprefix("warning: ")), 1)

    def test_applications_of_prometheus_libraries_are_shown(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
                       "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1]
                                                     / "lib/libpingloom-pages.so")}
        self.run_one("orders", binary("pages_prometheus_orders"), environment=environment)
        self.run_one("queue", "/usr/bin/python3", "-B", str(ROOT / "examples/pages/prometheus_queue.py"),
                     environment=environment)

        def shown():
            text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
            families = {family.name: family for family in parse_openmetrics(text)}
            counts = {}
            for application, counter, histogram, bounds in (
                    ("orders", "shop_orders", "shop_order_seconds", ["0.001", "0.0025", "0.005", "0.01", "+Inf"]),
                    ("queue", "jobs_done", "job_seconds", ["0.001", "0.0025", "0.005", "0.01", "0.1", "+Inf"])):
                if not {counter, histogram} <= families.keys():
                    return None
                sample = families[counter].samples[0]
                self.assertEqual((families[counter].type, sample.labels["application"]), ("counter", application))
                buckets = [sample for sample in families[histogram].samples if sample.name.endswith("_bucket")]
                self.assertEqual([bucket.labels["le"] for bucket in buckets], bounds)
                counts[application] = (sample.value, buckets[-1].value)
            self.assertIn("queue", {sample.labels.get("application") for sample in families["process_open_fds"].samples})
            return counts

        first = eventually(shown, 60, "both applications are shown", 0.2)

        def moved():
            now = shown()
            return all(after > before for name in first for before, after in zip(first[name], now[name]))

        eventually(moved, 60, "counters and histograms move", 0.2)

    def test_workers_that_prometheus_client_forks_are_shown_each_by_itself(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
                       "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1]
                                                     / "lib/libpingloom-pages.so")}
        self.run_one("workers", "/usr/bin/python3", "-B", str(ROOT / "examples/pages/prometheus_workers.py"),
                     environment=environment)

        def shown():
            text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
            families = {family.name: family for family in parse_openmetrics(text)}
            if not {"requests_done", "request_seconds"} <= families.keys():
                return False
            self.assertEqual([families[name].type for name in ("requests_done", "request_seconds", "requests_answering")],
                             ["counter", "histogram", "gauge"])
            done, took = collections.Counter(), {}
            for sample in families["requests_done"].samples:
                done[sample.labels["pid"]] += sample.value
            for sample in families["request_seconds"].samples:
                if sample.name == "request_seconds_count":
                    took[sample.labels["pid"]] = sample.value
            # A request is in the histogram before it is in the counter, and workers are read at any moment.
            return len(done) == 3 and all(0 < count <= took[pid] + 1 for pid, count in done.items())

        eventually(shown, 60, "three workers are shown", 0.2)

    def test_summaries_are_shown_as_they_were_set(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        program = """import itertools, time, pingloom_pages
pages = pingloom_pages.Pages("waits", labels={"quantile": "mine"})
group = pages.group()
waits = pages.summary("wait_seconds", (0.5, 0.9, 0.99), "Waits.", {"way": "in"}, group)
pages.summary("unset_seconds", (0.5,))
for i in itertools.count(1):
    with group.update():
        waits.set(i, i * 0.5, (i * 2, i * 3, float("nan")))
    time.sleep(0.001)
"""
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
                       "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1]
                                                     / "lib/libpingloom-pages.so")}
        self.run_one("waits", sys.executable, "-B", "-c", program, environment=environment)
        counts = set()

        def shown():
            for parse, accept in ((parse_text, "text/plain"), (parse_openmetrics, "application/openmetrics-text; version=1.0.0")):
                families = {family.name: family for family in parse(self.get("/metrics", accept=accept))}
                if not {"wait_seconds", "unset_seconds"} <= families.keys():
                    return False
                family = families["wait_seconds"]
                self.assertEqual((family.type, family.documentation), ("summary", "Waits."))
                self.assertEqual({(sample.labels["way"], sample.labels["exported_quantile"]) for sample in family.samples},
                                 {("in", "mine")})
                values = {sample.labels.get("quantile", sample.name): sample.value for sample in family.samples}
                self.assertEqual(str(values.pop("0.99")), "nan")
                count = values["wait_seconds_count"]
                self.assertEqual(values, {"0.5": count * 2, "0.9": count * 3, "wait_seconds_sum": count * 0.5,
                                          "wait_seconds_count": count}, "they were set together")
                counts.add(count)
                unset = {sample.labels.get("quantile", sample.name): sample.value for sample in families["unset_seconds"].samples}
                self.assertEqual((str(unset["0.5"]), unset["unset_seconds_sum"], unset["unset_seconds_count"]), ("nan", 0, 0))
            return len(counts) >= 10

        eventually(shown, 60, "the summary is shown and moves", 0.05)
        metrics = {metric["name"]: metric for agent in json.loads(self.get("/api/v1/pages"))["agents"]
                   for page in agent["pages"] for metric in page["metrics"]}
        self.assertEqual(metrics["wait_seconds"]["kind"], "summary")
        value = metrics["wait_seconds"]["value"]
        count = value["count"]
        self.assertEqual(value, {"count": count, "sum": count * 0.5, "p50": count * 2, "p99": None, "quantiles": [
            {"quantile": 0.5, "value": count * 2}, {"quantile": 0.9, "value": count * 3}, {"quantile": 0.99, "value": None}]})
        command = [binary("pingloom"), "pages", "--url", self.urls["collector"]]
        text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertRegex(text, r'wait_seconds\{way="in"\} +summary +count [0-9]+, mean 0\.5, p50 [0-9.e+]+\n')
        self.assertRegex(text, r"unset_seconds +summary +count 0\n")

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

    def thread_of(self, number):
        """The collector's address, which stands for its thread, that is connected to the agent; None: none is."""
        listens = socket.inet_aton(self.agent_address(number))[::-1].hex().upper() + f":{PAGES_PORT:04X}"
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, remote, state = line.split()[:4]
            if (state, local) == (ESTABLISHED, listens):
                return remote.split(":")[0]
        return None

    def test_threads_share_the_agents_and_a_stopped_one_delays_neither(self):
        # So many that each thread has two. The others of the list are not there.
        listed = range(1, 21)
        self.start_collector(addresses=[200, 201], agents=listed)
        threads = collections.defaultdict(list)
        for number in listed:
            self.start_agent(number)
            self.writer(number, number * 1000, pages=1)
            threads[eventually(lambda: self.thread_of(number), 60, f"agent {number} is connected")].append(number)
            if len(threads) == 2 and min(map(len, threads.values())) >= 2:
                break
        self.assertEqual(len(threads), 2, "both threads have agents")
        everyone = {(number, number * 1000) for numbers in threads.values() for number in numbers}
        self.moving(everyone)

        # One of each thread; a neighbour on each goes on as before.
        stopped = [numbers[0] for numbers in threads.values()]
        for number in stopped:
            self.agents[number].signal(signal.SIGSTOP)
        eventually(lambda: not any(self.of("agent_up", number) for number in stopped), 60, "they are noticed")
        others = {(number, identity) for number, identity in everyone if number not in stopped}
        before = {number: self.of("rounds_total", number) for number, _ in everyone}
        self.moving(others)
        eventually(lambda: all(self.of("rounds_total", number) > before[number] + 100 for number, _ in others), 60,
                   "they are read round by round")
        for number in stopped:
            self.assertEqual(self.of("rounds_total", number), before[number], "of a stopped one there is none")
        for number, _ in others:
            self.assertEqual(self.of("failures_total", number), 0)
            self.assertLess(self.of("lag_seconds", number), min(self.of("lag_seconds", one) for one in stopped))
        for number in stopped:
            self.agents[number].signal(signal.SIGCONT)
        self.moving(everyone)

    def reader_switches(self):
        """How often each reader of the collector has waited: by the name of its thread."""
        switches = {}
        for task in pathlib.Path(f"/proc/{self.collectors['collector'].pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            if name.startswith("reader-"):
                switches[name] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])
        return switches

    def test_readers_of_one_address_share_the_agents(self):
        numbers = range(1, 5)
        for number in numbers:
            self.start_agent(number)
            self.writer(number, number * 1000)
        self.start_collector(agents=numbers, settings="readers: 2")
        everyone = {(number, number * 1000) for number in numbers}
        self.moving(everyone)
        before, begin = self.reader_switches(), time.monotonic()
        time.sleep(2)
        after, elapsed = self.reader_switches(), time.monotonic() - begin
        self.assertEqual(set(after), {"reader-0", "reader-1"})
        for name, count in after.items():
            # Each has two agents with 50 rounds per second. A reader without agents wakes once per second.
            self.assertGreater(count - before[name], 20 * elapsed, f"{name} reads")
        self.assertEqual(json.loads(self.get("/healthz")), {"agents": 4, "reading": 4})
        shown = self.get("/metrics")
        for name in ("agent_up", "rounds_total", "failures_total"):
            agents = re.findall(rf'^pingloom_collector_{name}\{{agent="([^":]*)', shown, re.M)
            self.assertEqual(sorted(agents), sorted(map(self.agent_address, numbers)), f"{name}: each agent once")
        self.assertEqual(set(self.own("pingloom_collector_failures_total").values()), {0})

        # A second collector at the address is refused, and the first one goes on.
        self.start_collector("second", agents=numbers, settings="readers: 2")
        self.assertEqual(self.collectors["second"].process.wait(20), 1)
        self.assertIn("UDP port 4791 is taken", self.collectors["second"].log())
        self.moving(everyone)

        # One that leaves is gone, and the others stay where they are.
        path = self.directory / "collector.yaml"
        path.write_text(path.read_text().replace(f"{self.agent_address(1)}, ", ""))
        self.collectors["collector"].signal(signal.SIGHUP)
        eventually(lambda: json.loads(self.get("/healthz")) == {"agents": 3, "reading": 3}, 20, "three are read")
        self.moving({one for one in everyone if one[0] != 1})
        for number in list(numbers)[1:]:
            self.assertEqual(self.of("connects_total", number), 1, f"agent {number} has stayed connected")
        self.assertEqual(self.collectors["collector"].stop(), 0)

    def of(self, name, number):
        return self.own(f"pingloom_collector_{name}")[self.agent_address(number)]


if __name__ == "__main__":
    unittest.main()
