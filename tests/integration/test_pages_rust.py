"""The Rust crate for metric pages with a real agent and a real collector.

Cargo builds the application in the build folder, so a missing toolchain fails these tests."""

import os
import pathlib
import signal
import subprocess
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

from pages_case import PagesCase
from processes import binary, die_with_parent, eventually
from rust_tool import test_writer

PATH_LABEL = 'a"b\\c'


class Writer:
    """rust/pingloom-pages/tests/programs/writer.rs: it answers each command with a line."""

    def __init__(self, case, program, socket):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
            env={**os.environ, "PINGLOOM_PAGES_SOCKET": str(socket)})
        case.addCleanup(self.end)
        self.pid = int(self.process.stdout.readline())

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.communicate()


class PagesRust(PagesCase):
    @classmethod
    def setUpClass(cls):
        cls.program = test_writer(pathlib.Path(binary("pingloom")).parents[1])

    def start(self):
        return Writer(self, self.program, self.socket(1))

    def shown(self, pid):
        """The samples of one process: its values by the sample's name and by what its labels say."""
        values = {}
        for family in parse_text(self.get("/metrics?histograms=exact")):
            for sample in family.samples:
                if sample.labels.get("pid") == str(pid):
                    self.assertEqual((sample.labels["application"], sample.labels["service"]), ("rusty", "tests"))
                    key = next((sample.labels[name] for name in ("path", "le", "version", "quantile") if name in sample.labels), None)
                    values[sample.name, key] = sample.value
        return values

    def becomes(self, pid, wanted, what):
        seen = {}

        def equal():
            seen.clear()
            seen.update(self.shown(pid))
            return all(seen.get(key) == value for key, value in wanted.items())

        try:
            eventually(equal, 60, what, 0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen}") from None
        return dict(seen)

    def test_values_of_all_kinds_are_exact(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        writer = self.start()
        self.assertEqual(writer.tell("count 8 20000"), "160000", "8 threads count to an exact sum")
        writer.tell("books 1000")
        values = self.becomes(writer.pid, {
            ("rust_events_total", PATH_LABEL): 160_000, ("rust_busy_seconds_total", None): 1.5,
            ("rust_idle_seconds_total", None): 80_000.125, ("rust_delay_seconds", None): 1.5,
            ("rust_asked", None): 7, ("rust_depth", None): 160_000, ("rust_info", "1.0"): 1,
            ("rust_items_total", None): 3_000, ("rust_cents_total", None): 5_985_000,
            ("rust_took_seconds_count", None): 160_000,
            ("rust_wait_seconds", "0.5"): 0.25, ("rust_wait_seconds", "0.99"): 0.75,
            ("rust_wait_seconds_count", None): 8, ("rust_wait_seconds_sum", None): 2.5,
            ("rust_size_bucket", "1.5"): 80_000, ("rust_size_bucket", "2.5"): 120_000,
            ("rust_size_bucket", "10"): 160_000, ("rust_size_sum", None): 240_000}, "all values are exact")
        self.assertAlmostEqual(values["rust_took_seconds_sum", None], 8 * sum(range(20_000)) * 1e-6, 6)
        below = {float(le): value for (name, le), value in values.items() if name == "rust_took_seconds_bucket"}
        self.assertEqual(len(below), 98, "the shape is the C++ library's default")
        for bound, count in below.items():
            self.assertEqual(count, 8 * min(20_000, int(min(bound, 1) * 1e6 + 1e-6) + 1), f"up to {bound} s")
        command = [binary("pingloom"), "pages", "--url", self.urls["collector"]]
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertIn('rust_events_total{path="a\\"b\\\\c"}', lines)
        self.assertRegex(self.get("/metrics"), r"(?m)^# TYPE rust_idle_seconds_total counter$")
        text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
        self.assertRegex(text, r'(?m)^rust_idle_seconds_total\{.*\} \S+ # \{trace_id="00f067aa"\} 0.125 \d+\.\d+$')
        self.assertRegex(text, r'(?m)^rust_slow_seconds_bucket\{.*le="0.004194304"\} 1 # \{trace_id="4bf92f35"\} 0.003 \d+\.\d+$')

    def test_a_group_is_shown_whole(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        writer = self.start()
        writer.process.stdin.write("books 300000000\n")  # which takes longer than this test
        writer.process.stdin.flush()
        seen = set()

        def moves():
            values = self.shown(writer.pid)
            items, cents = values["rust_items_total", None], values["rust_cents_total", None]
            self.assertEqual(cents, items * 1995, "both come from the same moment")
            seen.add(items)
            return len(seen) > 20

        eventually(moves, 60, "the group is read while it is written", 0.05)

    def test_agents_come_and_go(self):
        writer = self.start()
        self.assertEqual(writer.tell("count 2 50"), "100", "it counts without an agent")
        self.assertTrue(writer.tell("status").startswith("false 0 "))
        self.start_collector(agents=[1])
        self.start_agent(1)
        events = ("rust_events_total", PATH_LABEL)
        self.becomes(writer.pid, {events: 100}, "the agent adopts its pages")
        self.agents[1].kill()
        writer.tell("count 2 50")
        self.start_agent(1)
        self.becomes(writer.pid, {events: 200}, "nothing is lost while the agent is away")
        newer = self.start()  # its pages come from the agent
        newer.tell("count 1 7")
        self.becomes(newer.pid, {events: 7}, "pages that the agent gave are shown")
        self.agents[1].kill()
        newer.tell("count 1 7")
        self.start_agent(1)
        self.becomes(newer.pid, {events: 14}, "the next agent adopts the pages of the last one")
        self.becomes(writer.pid, {events: 200}, "the others stay")
        newer.process.kill()
        eventually(lambda: not self.shown(newer.pid), 20, "one that is killed is shown no more")
        self.becomes(writer.pid, {events: 200}, "the others stay")

    def test_what_is_removed_is_shown_no_more(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        writer = self.start()
        writer.tell("count 1 10")
        events, depth, busy = ("rust_events_total", PATH_LABEL), ("rust_depth", None), ("rust_busy_seconds_total", None)
        before = self.becomes(writer.pid, {events: 10, depth: 10, busy: 1.5}, "all is shown")
        removed = {busy, ("rust_info", "1.0"), ("rust_items_total", None)}
        self.assertLessEqual(removed, before.keys())
        self.assertEqual(writer.tell("remove"), "true")
        eventually(lambda: self.shown(writer.pid).keys() == before.keys() - removed, 60, "they are shown no more", 0.1)
        writer.tell("count 1 10")
        self.becomes(writer.pid, {events: 20, depth: 20}, "the others count on")
        self.assertEqual(self.shown(writer.pid).keys(), before.keys() - removed)

    def test_a_child_has_metrics_of_its_own(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        writer = self.start()
        writer.tell("count 1 10")
        child = int(writer.tell("fork 3"))
        self.addCleanup(os.kill, child, signal.SIGKILL)
        events, took = ("rust_events_total", PATH_LABEL), ("rust_took_seconds_count", None)
        self.becomes(child, {events: 3, took: 0}, "the child begins with 0")
        writer.tell("count 1 10")
        self.becomes(writer.pid, {events: 20, took: 20}, "the child counts nowhere else")
        self.becomes(child, {events: 3, took: 0}, "and the parent neither")
        listed = writer.tell("descriptors")
        self.assertIn("/proc", listed)
        for kind in ("memfd", "socket", "eventfd"):
            self.assertNotIn(kind, listed, "programs that it executes inherit nothing")


if __name__ == "__main__":
    unittest.main()
