"""The bridge from the real prometheus_client to metric pages."""

import math
import pathlib
import struct
import sys
import tempfile
import time
import unittest

from prometheus_client import CollectorRegistry, Counter, Enum, Gauge, Histogram, Info, Summary
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import pingloom_pages  # noqa: E402
import pingloom_pages_prometheus  # noqa: E402
from processes import eventually  # noqa: E402
from scripted_agent import Agent  # noqa: E402


class Prometheus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-prometheus-")
        self.addCleanup(folder.cleanup)
        self.registry = CollectorRegistry()
        self.agent = Agent(folder.name + "/pages.sock")
        self.addCleanup(self.agent.stop)
        self.socket = folder.name + "/pages.sock"

    def publish(self, period=0.02):
        publisher = pingloom_pages_prometheus.publish("tested", self.registry, socket=self.socket, period=period)
        self.addCleanup(publisher.close)
        self.settle(publisher)
        return publisher

    def settle(self, publisher):
        def all_known():
            status = publisher.pages.status
            return status.connected and status.metrics == status.known_metrics
        eventually(all_known, 10, "every metric is known to the agent")

    def slot(self, *arguments, **more):
        return self.agent.owners[0].slot(*arguments, **more)

    def test_every_kind_follows_its_updates(self):
        jobs = Counter("jobs", "Jobs.", ["kind"], registry=self.registry)
        busy = Counter("busy_seconds", "Busy.", registry=self.registry)
        depth = Gauge("depth", "Depth.", registry=self.registry)
        took = Histogram("job_seconds", "Took.", buckets=(0.005, 0.1, 2.5), registry=self.registry)
        size = Summary("job_bytes", "Size.", registry=self.registry)
        Info("build", "Build.", registry=self.registry).info({"version": "1"})
        Enum("state", "State.", states=["idle", "busy"], registry=self.registry).state("busy")
        jobs.labels("mail").inc(41)
        busy.inc(0.125)
        depth.set(-2.5)
        for seconds in (0.005, 0.006, 0.1, 7):
            took.observe(seconds)
        size.observe(100)
        publisher = self.publish()
        self.assertEqual(publisher.errors, {})
        self.assertEqual(self.slot("jobs_total", kind="d"), 41)
        self.assertEqual(self.slot("busy_seconds_total", kind="d"), 0.125)
        self.assertEqual(self.slot("depth", kind="d"), -2.5)
        self.assertEqual([self.slot("job_seconds", i) for i in range(5)], [7_111_000_000, 1, 2, 0, 1])
        self.assertEqual((self.slot("job_bytes"), self.slot("job_bytes", 1, kind="d")), (1, 100))
        self.assertEqual({name: metric[3] for name, metric in self.agent.owners[0].metrics.items()},
                         {"jobs_total": 2, "busy_seconds_total": 2, "depth": 2, "job_seconds": 3, "job_bytes": 5,
                          "build_info": 4, "state": 2}, "times of creation are left out")
        self.assertEqual([self.agent.owners[0].definitions[name][1] for name in ("jobs_total", "depth")], [1 | 8, 0],
                         "one gauge is a counter with fractions")
        jobs.labels("mail").inc(0.5)
        took.observe(0.001)
        eventually(lambda: self.slot("jobs_total", kind="d") == 41.5, 10, "the counter follows")
        eventually(lambda: self.slot("job_seconds", 1) == 2, 10, "the histogram follows")

    def exemplar(self, name, slot):
        """The bytes of an exemplar that begins at a slot of the metric."""
        return struct.pack("<16Q", *(self.slot(name, slot + i) for i in range(16)))

    def test_exemplars_are_passed_on_once_there_are_some(self):
        jobs = Counter("jobs", "Jobs.", registry=self.registry)
        took = Histogram("job_seconds", "Took.", buckets=(0.005, 0.1, 2.5), registry=self.registry)
        wide = Histogram("wide_seconds", "Wide.", buckets=range(480), registry=self.registry)
        jobs.inc(2)
        took.observe(0.05)
        publisher = self.publish()
        first = self.agent.owners[0].metrics["jobs_total"]
        self.assertEqual(self.slot("jobs_total", kind="d"), 2)
        jobs.inc(1, exemplar={"trace_id": "aaaa"})
        took.observe(0.05, exemplar={"trace_id": "bbbb"})
        took.observe(7, exemplar={"trace_id": "cccc"})
        wide.observe(7, exemplar={"trace_id": "dddd"})

        def shown():
            metrics = self.agent.owners[0].metrics
            return metrics["jobs_total"] != first and (b"aaaa" in self.exemplar("jobs_total", 1)
                                                       and b"bbbb" in self.exemplar("job_seconds", 5 + 16)
                                                       and b"cccc" in self.exemplar("job_seconds", 5 + 3 * 16))
        eventually(shown, 10, "the exemplars are there")
        self.assertEqual(self.slot("jobs_total", kind="d"), 3)
        self.assertEqual([self.slot("job_seconds", i) for i in range(1, 5)], [0, 2, 0, 1])
        self.assertEqual(struct.unpack_from("<d", self.exemplar("jobs_total", 1), 24), (1,))
        self.assertEqual(publisher.errors, {"wide_seconds": "wide_seconds: with its exemplars it is larger than a page"})
        self.assertEqual(self.slot("wide_seconds", 8), 1, "it is there without")
        before = self.exemplar("jobs_total", 1)
        time.sleep(0.2)
        self.assertEqual(self.exemplar("jobs_total", 1), before, "it is not given twice")
        took.observe(0.05, exemplar={"trace_id": "eeee"})
        eventually(lambda: b"eeee" in self.exemplar("job_seconds", 5 + 16), 10, "the latest one is there")
        jobs.inc(1, exemplar={"trace_id": "x" * 100})
        eventually(lambda: "96 bytes" in publisher.errors.get("jobs_total", ""), 10, "it says why one is missing")
        self.assertEqual(self.slot("jobs_total", kind="d"), 4)

    def test_quantiles_of_a_collector_are_kept(self):
        class Waits:
            values = {"0.99": 0.5, "0.5": 0.25}

            def collect(self):
                family = SummaryMetricFamily("wait_seconds", "Waits.", labels=["way"])
                family.add_metric(["in"], count_value=8, sum_value=2.5)
                for quantile, value in self.values.items():
                    family.add_sample("wait_seconds", {"way": "in", "quantile": quantile}, value)
                yield family

        waits = Waits()
        self.registry.register(waits)
        publisher = self.publish()
        self.assertEqual(self.slot("wait_seconds"), 8)
        self.assertEqual([self.slot("wait_seconds", i, kind="d") for i in (1, 2, 3)], [2.5, 0.25, 0.5])
        self.assertEqual(publisher.errors, {})
        waits.values = {"0.5": 0.75, "0.99": math.nan}
        eventually(lambda: self.slot("wait_seconds", 2, kind="d") == 0.75, 10, "it follows")
        eventually(lambda: math.isnan(self.slot("wait_seconds", 3, kind="d")), 10, "a value may be unknown")
        waits.values = {"0.5": 1}
        eventually(lambda: "1 values for 2 quantiles" in publisher.errors.get("wait_seconds", ""), 10, "it is told")

    def test_metrics_come_later_and_are_removed(self):
        depth = Gauge("depth", "Depth.", ["queue"], registry=self.registry)
        depth.labels("a").set(1)
        publisher = self.publish()
        depth.remove("a")
        eventually(lambda: not self.agent.owners[0].living, 10, "it is removed")
        depth.labels("a").set(3)
        eventually(lambda: self.slot("depth", kind="d") == 3, 10, "it is back")
        Gauge("late", "Late.", registry=self.registry).set(4)
        eventually(lambda: publisher.pages.status.known_metrics == 2, 10, "a metric that was made later is published")
        eventually(lambda: self.slot("late", kind="d") == 4, 10, "its value is there")
        calls = Counter("calls", "Calls.", ["by"], registry=self.registry)
        calls.labels("a").inc(5)
        eventually(lambda: publisher.pages.status.known_metrics == 3, 10, "a counter is published")
        calls.remove("a")
        eventually(lambda: publisher.pages.status.metrics == 2, 10, "counters are removed, too")
        self.assertEqual(publisher.errors, {})

    def test_what_cannot_be_published_is_told_and_the_rest_is_there(self):
        class Odd:
            calls = 0

            def collect(self):
                Odd.calls += 1
                if Odd.calls in (3, 4):  # the first is for its registration
                    raise RuntimeError("not now")
                yield GaugeMetricFamily("long_" + 200 * "x", "Too long.", value=1)
                yield GaugeMetricFamily("calls", "Calls.", value=Odd.calls)

        huge = Counter("huge_bytes", "Huge.", registry=self.registry)
        huge.inc(1e30)
        self.registry.register(Odd())
        publisher = self.publish()
        self.assertIn("not a metric's name", publisher.errors["long_" + 200 * "x"])
        self.assertEqual(self.slot("huge_bytes_total", kind="d"), 1e30)
        eventually(lambda: self.slot("calls", kind="d") > 4, 10, "a failure is not the end")

    def test_a_summary_that_is_none_is_told_and_the_others_go_on(self):
        class Odd:
            def collect(self):
                countless = SummaryMetricFamily("countless", "Has quantiles only.")
                countless.add_sample("countless", {"quantile": "0.5"}, 1)
                yield countless
                yield SummaryMetricFamily("numberless", "Has no number.", count_value=float("nan"), sum_value=1)
                yield GaugeMetricFamily("good", "Good.", value=4)

        self.registry.register(Odd())
        publisher = self.publish()
        self.assertIn("countless_count", publisher.errors["countless"])
        self.assertIn("NaN", publisher.errors["numberless"])
        self.assertEqual(self.slot("good", kind="d"), 4)

    def test_a_family_that_fails_keeps_its_metrics(self):
        class Odd:
            fails = False

            def collect(self):
                family = GaugeMetricFamily("depth", "Depth.", value=2)
                if Odd.fails:
                    family.samples.insert(0, family.samples[0]._replace(name=None))
                yield family

        self.registry.register(Odd())
        publisher = self.publish()
        Odd.fails = True
        eventually(lambda: "depth" in publisher.errors, 10, "the failure is told")
        time.sleep(0.1)  # several copies
        self.assertEqual(self.slot("depth", kind="d"), 2)
        self.assertEqual(len(self.agent.owners[0].living), 1)

    def test_another_kind_takes_the_name_over(self):
        class Changing:
            kind = CounterMetricFamily

            def collect(self):
                yield Changing.kind("jobs_total", "Jobs.", value=7)

        changing = Changing()
        self.registry.register(changing)
        publisher = self.publish()
        Changing.kind = GaugeMetricFamily
        eventually(lambda: self.slot("jobs_total", kind="d") == 7, 10, "it is a gauge")
        self.assertEqual(publisher.errors, {})

    def test_bounds_and_buckets_are_checked(self):
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            with self.assertRaisesRegex(ValueError, "ascending"):
                pages.bounded_histogram("h", (2, 1))
            histogram = pages.bounded_histogram("h", (1, 2.5), unit=0.5)
            with self.assertRaisesRegex(ValueError, "3 bounds|give one more"):
                histogram.set([1, 2], 3)
            for value in (1, 2, 3, -4):
                histogram.observe(value)
            eventually(lambda: pages.status.known_metrics == 1, 10, "the agent knows it")
            self.assertEqual([self.slot("h", i) for i in range(4)], [12, 2, 1, 1])


if __name__ == "__main__":
    unittest.main()
