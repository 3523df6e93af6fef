"""The exporter from OpenTelemetry's SDK to metric pages."""

import os
import pathlib
import runpy
import struct
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import opentelemetry_interface  # noqa: E402

sdk = opentelemetry_interface.install()
if not hasattr(sdk, "PeriodicExportingMetricReader"):
    import opentelemetry_provider
    opentelemetry_provider.install(sys.modules["opentelemetry.sdk.metrics"], sdk)
from pingloom_pages_opentelemetry import PagesMetricExporter  # noqa: E402
from processes import eventually  # noqa: E402
from scripted_agent import Agent  # noqa: E402

CUMULATIVE, DELTA = sdk.AggregationTemporality.CUMULATIVE, sdk.AggregationTemporality.DELTA


def number(value, **attributes):
    return sdk.NumberDataPoint(attributes, 0, 1, value)


def batch(*metrics):
    scope = sdk.ScopeMetrics(None, metrics, "")
    return sdk.MetricsData([sdk.ResourceMetrics(None, [scope], "")])


class OpenTelemetry(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-opentelemetry-")
        self.addCleanup(folder.cleanup)
        self.socket = folder.name + "/pages.sock"
        self.agent = Agent(self.socket)
        self.addCleanup(self.agent.stop)
        self.exporter = PagesMetricExporter("tested", socket=self.socket)
        self.addCleanup(self.exporter.shutdown)

    def export(self, *metrics, known):
        self.assertEqual(self.exporter.export(batch(*metrics)), sdk.MetricExportResult.SUCCESS)
        self.assertTrue(self.exporter.force_flush())
        eventually(lambda: self.agent.owners and len(self.agent.owners[0].metrics) == known, 10,
                   "every metric is known to the agent")
        return self.agent.owners[0]

    def test_every_kind_follows_its_updates(self):
        def metrics(done, seconds):
            return (sdk.Metric("jobs.done", "Jobs.", "1", sdk.Sum([number(done, kind="mail")], CUMULATIVE, True)),
                    sdk.Metric("queue.depth", None, None, sdk.Sum([number(-3)], CUMULATIVE, False)),
                    sdk.Metric("cpu.load", "", "%", sdk.Gauge([number(2.5)])),
                    sdk.Metric("http.server.duration", "", "s", sdk.Histogram(
                        [sdk.HistogramDataPoint({"http.route": "/a"}, 0, 1, 3, seconds, [1, 2, 0], [0.005, 0.1], 0, 1)],
                        CUMULATIVE)))

        owner = self.export(*metrics(41, 0.25), known=4)
        self.assertEqual({name: metric[3] for name, metric in owner.metrics.items()},
                         {"jobs_done_total": 2, "queue_depth": 2, "cpu_load_percent": 2,
                          "http_server_duration_seconds": 3})
        self.assertEqual(owner.slot("jobs_done_total", kind="d"), 41)
        self.assertEqual(owner.definitions["jobs_done_total"][1], 1 | 8, "a gauge that is a counter with fractions")
        self.assertEqual(owner.slot("queue_depth", kind="d"), -3)
        self.assertEqual(owner.slot("cpu_load_percent", kind="d"), 2.5)
        self.assertEqual([owner.slot("http_server_duration_seconds", i) for i in range(4)], [250_000_000, 1, 2, 0])
        self.export(*metrics(41.5, 0.5), known=4)
        self.assertEqual(owner.slot("jobs_done_total", kind="d"), 41.5)
        self.assertEqual(owner.slot("http_server_duration_seconds"), 500_000_000)
        self.assertEqual(self.exporter.errors, {})
        self.export(known=4)
        eventually(lambda: not owner.living, 10, "what is reported no more is removed")

    def test_exemplars_of_traces_are_kept(self):
        def exemplar(value, trace, span=None, at=2_000_000_000):
            return opentelemetry_interface.Exemplar({"dropped": 1}, value, at, span, trace)

        def metrics(*exemplars):
            return (sdk.Metric("jobs", "", "", sdk.Sum([sdk.NumberDataPoint({}, 0, 1, 5, exemplars)], CUMULATIVE, True)),
                    sdk.Metric("took", "", "s", sdk.Histogram(
                        [sdk.HistogramDataPoint({}, 0, 1, 3, 1.5, [1, 2, 0], [0.005, 0.1], 0, 1, exemplars)], CUMULATIVE)))

        owner = self.export(*metrics(exemplar(0.01, None)), known=2)
        before = {name: owner.metrics[name] for name in ("jobs_total", "took_seconds")}
        self.export(*metrics(exemplar(0.05, 0xAB, 0xCD), exemplar(7, 0xEF, at=1_000_000_000), exemplar(1, 0)), known=2)
        eventually(lambda: all(owner.metrics[name] != metric for name, metric in before.items()), 10,
                   "they are made again with room for exemplars")

        def raw(name, slot):
            return struct.pack("<16Q", *(owner.slot(name, slot + i) for i in range(16)))

        for name, slot, value, at, trace in (("jobs_total", 1, 0.05, 2, "ab"), ("took_seconds", 4 + 16, 0.05, 2, "ab"),
                                             ("took_seconds", 4 + 2 * 16, 7, 1, "ef")):
            self.assertEqual(struct.unpack_from("<Qd", raw(name, slot), 16), (at * 1_000_000_000, value), name)
            self.assertIn(b"\x08trace_id\x20" + trace.rjust(32, "0").encode(), raw(name, slot))
        self.assertIn(b"\x07span_id\x10" + b"cd".rjust(16, b"0"), raw("jobs_total", 1))
        self.assertNotIn(b"dropped", raw("jobs_total", 1))
        self.assertEqual(self.exporter.errors, {})

    def test_what_cannot_be_exported_is_told_and_the_rest_is_there(self):
        owner = self.export(sdk.Metric("deltas", "", "", sdk.Sum([number(1)], DELTA, True)),
                            sdk.Metric("wide", "", "", sdk.ExponentialHistogram([None], CUMULATIVE)),
                            sdk.Metric("labelled", "", "", sdk.Gauge([number(1, __reserved="x")])),
                            sdk.Metric("fine", "", "", sdk.Gauge([number(1)])), known=1)
        self.assertEqual(owner.slot("fine", kind="d"), 1)
        self.assertEqual(sorted(self.exporter.errors), ["deltas_total", "labelled", "wide"])
        self.assertIn("prefer cumulative", self.exporter.errors["deltas_total"])
        self.assertIn("explicit bounds", self.exporter.errors["wide"])

    def test_the_example(self):
        before = len(self.agent.owners)
        program = str(ROOT / "examples/pages/opentelemetry_queue.py")
        with unittest.mock.patch.dict(os.environ, PINGLOOM_PAGES_SOCKET=self.socket), \
                unittest.mock.patch.object(sys, "argv", [program, "--seconds", "1.5"]):
            runpy.run_path(program, run_name="__main__")
        owner = next(owner for owner in self.agent.owners[before:] if owner.metrics)
        self.assertEqual(owner.metrics.keys(), {"jobs_done_total", "jobs_running", "job_duration_milliseconds"})
        self.assertGreater(owner.slot("jobs_done_total", kind="d"), 0)
        self.assertEqual(owner.slot("jobs_running", kind="d"), 0)
        self.assertGreater(sum(owner.slot("job_duration_milliseconds", 1 + i) for i in range(16)), 0)


if __name__ == "__main__":
    unittest.main()
