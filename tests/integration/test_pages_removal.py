"""Metrics that an application removes, with a real agent and a real collector: their series end, and no value is ever shown
as another metric's, although slots are used again and agents die."""

import json
import pathlib
import subprocess
import sys
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

from pages_case import PagesCase
from processes import binary, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each step begins when its file is there, and says what it has come to in another one.
PROGRAM = """import collections, json, pathlib, sys, time, pingloom_pages
folder = pathlib.Path(sys.argv[1])
pages = pingloom_pages.Pages("shop")
kept = pages.counter("orders_total", labels={"till": "kept"})

def add(till, orders):
    pages.counter("orders_total", labels={"till": till}).add(orders)
    pages.gauge("depth", labels={"till": till}).set(3)

def remove(till):
    assert pages.remove("orders_total", {"till": till}) and pages.remove("depth", {"till": till})

def churn(first):
    living = collections.deque()
    for number in range(first, first + 10_000):
        labels = {"n": str(number)}
        name = "churned_total" if number % 2 else "churned"
        if number % 2:
            pages.counter(name, labels=labels).add(10**6 + number)
        else:
            pages.gauge(name, labels=labels).set(number)
        living.append((name, labels))
        if len(living) > 50:
            assert pages.remove(*living.popleft())
        if number % 10 == 0:
            kept.add()
            time.sleep(0.005)
    for each in living:
        assert pages.remove(*each)

steps = {"begin": lambda: add("gone", 5), "remove": lambda: remove("gone"), "again": lambda: add("gone", 1),
         "churn": lambda: churn(1), "churn_again": lambda: churn(20_001), "remove_alone": lambda: remove("gone")}
while True:
    kept.add()
    for name, step in list(steps.items()):
        if (folder / name).exists():
            steps.pop(name)()
            (folder / f"{name}.part").write_text(json.dumps(pages.status.pages))
            (folder / f"{name}.part").rename(folder / f"{name}.done")
    time.sleep(0.01)
"""


class PagesRemoval(PagesCase):
    def setUp(self):
        super().setUp()
        self.start_agent(1)
        self.start_collector(agents=[1])
        library = pathlib.Path(binary("pingloom")).parents[1] / "lib/libpingloom-pages.so"
        self.shop = self.run_one("shop", sys.executable, "-B", "-c", PROGRAM, str(self.directory), environment={
            "PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
            "PINGLOOM_PAGES_LIBRARY": str(library)})
        self.orders = 0
        self.seen_churned = set()

    def begin(self, name):
        (self.directory / name).touch()

    def done(self, name):
        """The number of pages that the application then had; None while the step is not over."""
        path = self.directory / f"{name}.done"
        return json.loads(path.read_text()) if path.exists() else None

    def step(self, name):
        self.begin(name)
        return eventually(lambda: self.done(name), 60, f"the step {name} is over", 0.05)

    def shown(self):
        """The values of the application's series by name and label, which must be theirs."""
        values = {}
        for family in parse_text(self.get("/metrics")):
            for sample in family.samples:
                if sample.labels.get("application") != "shop":
                    continue
                label = sample.labels.get("till") or sample.labels.get("n")
                values[sample.name, label] = sample.value
                if sample.name.startswith("churned"):
                    wanted = int(label) + (10**6 if int(label) % 2 else 0)
                    self.assertIn(sample.value, (0, wanted), sample)
                    self.seen_churned.add(label)
        kept = values.get(("orders_total", "kept"))
        if kept is not None:
            self.assertGreaterEqual(kept, self.orders, "a counter that stays never falls")
            self.orders = kept
        return values

    def only(self, *names):
        wanted = {("orders_total", "kept"), *names}
        eventually(lambda: self.shown().keys() == wanted, 60, lambda: f"{wanted} are shown: {self.shown()}", 0.1)

    def churn(self, name):
        self.begin(name)
        while self.done(name) is None:
            self.assertTrue(self.shop.running(), self.shop.tail())
            self.shown()
            time.sleep(0.02)
        return self.done(name)

    def test_series_end_and_begin_anew(self):
        both = ("orders_total", "gone"), ("depth", "gone")
        self.step("begin")
        self.only(*both)
        self.assertEqual(self.shown()[both[0]], 5)
        self.step("remove")
        self.only()
        command = [binary("pingloom"), "pages", "--url", self.urls["collector"]]
        listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertIn('till="kept"', listed)
        self.assertNotIn('till="gone"', listed)
        self.assertNotIn("gone", self.get("/api/v1/pages", accept="application/json"))
        self.step("again")
        self.only(*both)
        self.assertEqual(self.shown()[both[0]], 1, "it is a new series")
        # The agent is killed, and the metric removed while there is none.
        self.agents[1].kill()
        self.step("remove_alone")
        self.start_agent(1)
        before = self.orders
        eventually(lambda: self.shown() and self.orders > before, 60, "the next agent serves what is left", 0.1)
        self.only()

    def test_label_sets_that_come_and_go_take_no_more_pages_and_no_other_ones_values(self):
        self.only()
        first = self.churn("churn")
        self.assertLessEqual(first, 22, "10,050 slots within a minute")
        self.only()
        self.assertGreater(len(self.seen_churned), 100, "the collector has seen some of them")
        ended = time.monotonic()
        while time.monotonic() < ended + 61:  # the slots rest
            self.shown()
            time.sleep(0.5)
        self.seen_churned.clear()
        self.assertEqual(self.churn("churn_again"), first, "slots are used again")
        self.assertGreater(len(self.seen_churned), 100)
        self.only()
        self.assertNotIn("refuses", self.agents[1].log())


if __name__ == "__main__":
    unittest.main()
