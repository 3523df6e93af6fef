"""The mirror that Python's bridges share, where pages run out and clocks are set."""

import collections
import ctypes
import math
import pathlib
import sys
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import pingloom_pages  # noqa: E402
import pingloom_pages_library  # noqa: E402
import pingloom_pages_mirror  # noqa: E402

Exemplar = collections.namedtuple("Exemplar", ("labels", "value", "timestamp"))


class Mirror(unittest.TestCase):
    def setUp(self):
        self.pages = pingloom_pages.Pages("tested", socket="/nonexistent")
        self.addCleanup(self.pages.close)
        self.mirror = pingloom_pages_mirror.Mirror(self.pages)

    def round(self, value, exemplar=None, names=("a_total",)):
        self.mirror.begin()
        for name in names:
            self.mirror.counter(name, "", {}, value, exemplar)
        self.mirror.end()

    def value(self, name="a_total"):
        """What readers find, or None if the metric is not on a page."""
        handle = self.mirror._metric("counter", name, {}, lambda: self.fail("it is not there"))
        if handle is None or handle not in self.pages._handles.get((name.encode(), frozenset()), ()):
            return None
        inert = pingloom_pages_library.Slot()
        pingloom_pages._fast.pingloom_fraction_counter_make(None, None, ctypes.byref(inert))
        if handle._handle.slot == inert.slot:
            return None
        return ctypes.c_double.from_address(handle._handle.slot).value

    def fill(self, bounds):
        """Fills pages with histograms of so many bounds until there are none left."""
        self.pages.last_error = ""
        for i in range(2000):
            self.pages.bounded_histogram("filler_seconds", range(bounds), labels={"i": str(i)})
            if self.pages.last_error:
                return
        self.fail("there is no end of pages")

    def test_where_there_is_no_room_for_exemplars_the_metric_stays(self):
        self.round(1)
        self.assertEqual(self.value(), 1)
        self.fill(495)  # a few slots are left on each page
        for value in (2, 3):
            self.round(value, Exemplar({"trace_id": "a"}, 1, time.time()))
            self.assertEqual(self.value(), value)
        self.assertIn("a_total", self.mirror.errors)

    def test_what_had_no_page_is_tried_again_after_the_slots_rest(self):
        make, full, tries = self.pages.fraction_counter, True, []

        def counter(*arguments, **more):
            tries.append(more.get("exemplars", False))
            made = make(*arguments, **more)
            if full:
                self.pages.remove(arguments[0])
                self.pages.last_error = "there are no more pages"
            return made

        with unittest.mock.patch.object(self.pages, "fraction_counter", counter), \
                unittest.mock.patch.object(pingloom_pages_mirror.time, "monotonic", lambda: now):
            now = 1000
            for _ in range(3):
                self.round(1, Exemplar({"trace_id": "a"}, 1, time.time()))
            self.assertEqual(tries, [True, False], "nothing is tried again at once")
            self.assertIn("a_total", self.mirror.errors)
            full, now = False, 1061
            self.round(2, Exemplar({"trace_id": "a"}, 1, time.time()))
            self.assertEqual(tries, [True, False])
            now = 1066
            for value in (3, 4):
                self.round(value, Exemplar({"trace_id": "a"}, 1, time.time()))
                self.assertEqual(self.value(), value)
            self.assertEqual(tries, [True, False, False], "it has no room for exemplars for good")
            self.assertEqual(self.mirror.errors, {})
            now = 3000
            self.round(5)
            self.assertEqual((self.value(), len(tries)), (5, 3))

    def test_a_counter_that_is_none_is_told_and_keeps_its_value(self):
        self.round(1.5)
        for wrong in (-1, math.nan, math.inf):
            self.mirror.errors.clear()
            self.round(wrong)
            self.assertEqual(self.value(), 1.5)
            self.assertIn("a_total", self.mirror.errors)
        self.round(2.25)
        self.assertEqual(self.value(), 2.25)

    def test_few_metrics_are_made_again_in_a_round(self):
        names = [f"m{i}_total" for i in range(40)]
        self.round(1, names=names)
        for made_again in (16, 32, 40):
            self.round(1, Exemplar({"trace_id": "a"}, 1, time.time()), names)
            self.assertEqual(len(self.mirror._exemplars), made_again)
            self.assertEqual({self.value(name) for name in names}, {1})

    def test_pages_that_are_full_cost_one_metric_at_most(self):
        names = [f"m{i}_total" for i in range(40)]
        self.round(1, names=names)
        make = self.pages.fraction_counter

        def counter(*arguments, **more):
            made = make(*arguments, **more)
            self.pages.remove(arguments[0])
            self.pages.last_error = "there are no more pages"
            return made

        with unittest.mock.patch.object(self.pages, "fraction_counter", counter):
            for value in (2, 3, 4):
                self.round(value, Exemplar({"trace_id": "a"}, 1, time.time()), names)
                values = [self.value(name) for name in names]
                self.assertEqual((values.count(value), values.count(None)), (39, 1))

    def test_exemplars_go_on_after_the_clock_is_set_back(self):
        def kept(*exemplars):
            """The exemplars of a histogram's four places after a round with these."""
            self.mirror.begin()
            self.mirror.histogram("a_seconds", "", {}, (1, 2, 3), (1, 1, 1, 1), 1.0,
                                  [Exemplar({"t": text}, value, at) for text, value, at in exemplars])
            self.mirror.end()
            (handle,) = self.mirror._metrics.values()
            places = [ctypes.string_at(handle._exemplars.slots + 128 * i + 34, 5) for i in range(4)]
            return [raw[1:1 + raw[0]].decode() for raw in places]

        with unittest.mock.patch.object(pingloom_pages_mirror.time, "time", lambda: now):
            now = 100_000
            before = [("a", 0.5, now), ("b", 1.5, now - 5)]
            self.assertEqual(kept(*before), ["a", "b", "", ""])
            now -= 3600
            self.assertEqual(kept(("c", 0.6, now), *before), ["c", "b", "", ""])
            self.assertEqual(kept(("d", 0.7, now + 1), *before), ["d", "b", "", ""])
            self.assertEqual(kept(("late", 2.5, now), *before), ["d", "b", "", ""], "one is not given twice")
            now += 30
            self.assertEqual(kept(("e", 2.5, now + 59)), ["d", "b", "e", ""], "clocks may differ a little")


if __name__ == "__main__":
    unittest.main()
