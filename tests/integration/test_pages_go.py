"""Go applications with metric pages: a real agent, a real collector and what it shows (go/pingloompages)."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

from go_tool import PACKAGE, ROOT, go
from pages_case import PagesCase
from processes import binary, eventually

GOROUTINES, TIMES = 8, 20_000
TOTAL = GOROUTINES * TIMES


class PagesGo(PagesCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-pages-go-")
        cls.addClassCleanup(folder.cleanup)
        cls.program, cls.example = pathlib.Path(folder.name, "pages_go"), pathlib.Path(folder.name, "orders")
        build = pathlib.Path(binary("pingloom")).parents[1]
        go(build, ROOT / "tests/integration/pages_go", "build", "-o", cls.program)
        go(build, PACKAGE, "build", "-o", cls.example, "./example")

    def start_go(self, name, *arguments, program=None):
        return self.run_one(name, program or self.program, *arguments,
                            environment={"PINGLOOM_PAGES_SOCKET": str(self.socket(1))})

    def writer(self, number, identity, pages=2, **_):
        process = self.start_go(f"writer-{identity}", "writer", str(identity), str(pages))
        self.pids[identity] = process.pid
        return process

    def counted(self):
        """The values of the application `counter` by name and distinguishing label, once all are shown and right."""
        samples = {}
        for family in parse_text(self.get("/metrics?histograms=exact")):
            for sample in family.samples:
                if sample.labels.get("application") == 'shop "go"':
                    labels = [sample.labels[name] for name in ("path", "le", "version", "quantile") if name in sample.labels]
                    key = sample.name, labels[0] if labels else None
                    samples[key] = sample.value
        return samples

    def check_counted(self):
        def all_shown():
            samples = self.counted()
            return samples if samples.get(("go_size_bytes_bucket", "+Inf")) == TOTAL and \
                ("go_build_info", "1.2") in samples and samples.get(("go_asked", None)) == 7 else None

        samples = eventually(all_shown, 60, lambda: f"all values are shown: {self.counted()}", 0.2)
        self.assertEqual(samples["go_jobs_total", 'a"b\\c'], TOTAL)
        self.assertEqual(samples["go_busy_seconds_total", None], TOTAL / 4)
        self.assertEqual(samples["go_idle_seconds_total", None], TOTAL / 2 + 0.125)
        self.assertRegex(self.get("/metrics"), r"(?m)^# TYPE go_idle_seconds_total counter$")
        self.assertEqual(samples["go_load", None], TOTAL / 2)
        self.assertEqual(samples["go_delay_seconds", None], 1.5)
        self.assertEqual(samples["go_took_seconds_count", None], TOTAL)
        self.assertAlmostEqual(samples["go_took_seconds_sum", None], TOTAL * 1500e-9, places=9)
        self.assertEqual(samples["go_took_seconds_bucket", "1.28e-06"], 0)
        self.assertEqual(samples["go_took_seconds_bucket", "1.536e-06"], TOTAL)
        self.assertEqual(samples["go_size_bytes_sum", None], TOTAL * 9.5)
        self.assertEqual(samples["go_size_bytes_bucket", "1"], TOTAL / 10)
        self.assertEqual(samples["go_size_bytes_bucket", "10"], TOTAL * 11 / 20)
        self.assertEqual(samples["go_build_info", "1.2"], 1)
        self.assertEqual([samples["go_wait_seconds", quantile] for quantile in ("0.5", "0.99")], [0.25, 0.75])
        self.assertEqual((samples["go_wait_seconds_count", None], samples["go_wait_seconds_sum", None]), (8, 2.5))
        text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
        self.assertRegex(text, r'(?m)^go_idle_seconds_total\{.*\} \S+ # \{trace_id="00f067aa"\} 0.125 \d+\.\d+$')
        self.assertRegex(text, r'(?m)^go_slow_seconds_bucket\{.*le="0.004194304"\} 1 # \{trace_id="4bf92f35"\} 0.003 \d+\.\d+$')

    def test_goroutines_count_exactly_over_restarts_of_the_agent(self):
        self.start_collector(agents=[1])
        counter = self.start_go("counter", "counter", str(GOROUTINES), str(TIMES))
        eventually(lambda: "counted" in counter.log(), 60, "it counts though there is no agent")
        self.start_agent(1)
        self.check_counted()
        self.agents[1].kill()
        eventually(lambda: not self.counted(), 60, "nothing is read from an agent that was killed")
        self.start_agent(1)
        self.check_counted()
        self.assertTrue(counter.running(), counter.log())
        counter.kill()
        eventually(lambda: not self.counted(), 20, "the page of an application that was killed is gone")

    def test_a_label_set_that_is_removed_is_shown_no_more(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        file = self.directory / "remove"
        remover = self.start_go("remover", "remover", str(file), "1000")

        def shown():
            return {till: float(value) for till, value in
                    re.findall(r'^go_orders_total\{.*till="(\w+)".*\} (\S+)$', self.get("/metrics"), re.M)}

        eventually(lambda: shown().keys() == {"kept", "gone"}, 60, "both are shown", 0.1)
        file.touch()
        eventually(lambda: shown().keys() == {"kept"}, 60, lambda: f"one is shown: {shown()}", 0.1)
        self.assertIn("removed true", remover.log())
        before = shown()["kept"]
        self.assertGreater(before, 1000)
        eventually(lambda: shown()["kept"] > before, 60, "the other one counts on", 0.1)

    def test_groups_are_whole_while_everybody_is_killed_and_comes_back(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        first = self.writer(1, 1000)
        self.moving({(1, 1000)})
        self.agents[1].kill()
        self.start_agent(1)
        self.moving({(1, 1000)})
        self.collectors["collector"].kill()
        self.start_collector(agents=[1])
        self.moving({(1, 1000)})
        first.kill()
        eventually(lambda: (1, 1000) not in self.look(), 20, "one that has ended is shown no more")
        self.writer(1, 1001)
        self.moving({(1, 1001)})
        self.assertGreater(self.seen["collector"].checked, 0)

    def test_the_example_is_shown(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        example = self.start_go("orders", program=self.example)

        def shown():
            found = re.findall(r'^(shop_\w+)\{application="orders".*service="shop".*\} (\S+)$', self.get("/metrics"), re.M)
            samples = {name: float(value) for name, value in found}
            self.assertEqual(samples["shop_revenue_cents_total"], 1995 * samples["shop_items_total"], "they belong together")
            return samples["shop_order_seconds_count"] > samples["shop_orders_total"] > 0

        eventually(shown, 60, "orders are placed", 0.2)
        command = [binary("pingloom"), "pages", "--url", self.urls["collector"]]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertIn("shop_items_total", printed)
        self.assertEqual(example.stop(), 0, example.log())


if __name__ == "__main__":
    unittest.main()
