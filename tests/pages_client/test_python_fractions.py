"""Counters with fractions and gauges with a unit in the Python module."""

import decimal
import fractions
import math
import pathlib
import struct
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import pingloom_pages  # noqa: E402
from processes import eventually  # noqa: E402
from scripted_agent import Agent  # noqa: E402

GAUGE = 2
SHARED, FRACTIONS, EXEMPLARS = 1, 8, 16  # the flags of a definition


class Scalar:
    """A number as numpy's scalars are: no float, but it becomes one."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value

    def __lt__(self, other):
        return self.value < other


class Fractions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-fractions-")
        self.addCleanup(folder.cleanup)
        self.agent = Agent(folder.name + "/pages.sock")
        self.addCleanup(self.agent.stop)
        self.pages = pingloom_pages.Pages("tested", socket=folder.name + "/pages.sock")
        self.addCleanup(self.pages.close)

    def settled(self):
        def all_known():
            status = self.pages.status
            return status.connected and status.metrics == status.known_metrics
        eventually(all_known, 10, "every metric is known to the agent")
        return self.agent.owners[0]

    def test_a_counter_takes_numbers_of_every_kind(self):
        joules = self.pages.fraction_counter("energy_joules_total", "Energy.", {"rail": "1"})
        for n in (0.5, 2, True, Scalar(0.25), decimal.Decimal("0.125"), fractions.Fraction(1, 16), 0.0, -0.0):
            joules.add(n)
        joules.add()
        owner = self.settled()
        self.assertEqual(owner.slot("energy_joules_total", kind="d"), 0.5 + 2 + 1 + 0.25 + 0.125 + 0.0625 + 1)
        self.assertEqual(tuple(owner.definitions["energy_joules_total"][:2]), (GAUGE, SHARED | FRACTIONS))
        joules.set(7.75)
        self.assertEqual(owner.slot("energy_joules_total", kind="d"), 7.75)
        self.pages.fraction_counter("energy_joules_total", labels={"rail": "1"}).add(0.25)
        self.assertEqual(owner.slot("energy_joules_total", kind="d"), 8, "it is the same metric")
        self.assertTrue(self.pages.remove("energy_joules_total", {"rail": "1"}))
        joules.add(1)
        self.assertEqual(owner.slot("energy_joules_total", kind="d"), 8, "its handles are inert")

    def test_what_no_counter_counts_is_refused(self):
        joules = self.pages.fraction_counter("energy_joules_total")
        joules.add(1)
        for wrong, error, advice in ((-0.5, ValueError, "use a gauge"), (-1, ValueError, "only grows"),
                                     (math.nan, ValueError, "numbers, not nan"), (math.inf, ValueError, "finite"),
                                     (-math.inf, ValueError, "finite"), (10**400, ValueError, "finite"),
                                     ("1", TypeError, "counts numbers, not '1'"), (None, TypeError, "not None"),
                                     (1j, TypeError, "not 1j")):
            for update in (joules.add, joules.set):
                with self.assertRaisesRegex(error, advice):
                    update(wrong)
        self.assertEqual(self.settled().slot("energy_joules_total", kind="d"), 1)
        with self.assertRaisesRegex(TypeError, "or use fraction_counter"):
            self.pages.counter("jobs_total").add(1.5)
        with self.assertRaises(ValueError):
            self.pages.counter("energy_joules_total")

    def test_a_counter_keeps_its_last_exemplar(self):
        joules = self.pages.fraction_counter("energy_joules_total", exemplars=True)
        joules.add(0.5, {"trace_id": "first"})
        joules.add(1.25, {"trace_id": "last"})
        owner = self.settled()

        def exemplar():
            raw = struct.pack("<16Q", *(owner.slot("energy_joules_total", 1 + i) for i in range(16)))
            return raw[32:], *struct.unpack_from("<Qd", raw, 16)

        self.assertEqual(owner.definitions["energy_joules_total"][1], SHARED | EXEMPLARS | FRACTIONS)
        text, _, value = exemplar()
        self.assertTrue(text.startswith(b"\x08trace_id\x04last\0"), text)
        self.assertEqual(value, 1.25)
        joules.put_exemplar(0.75, {"trace_id": "put"}, 12.5)
        self.assertEqual(exemplar()[1:], (12_500_000_000, 0.75))
        with self.assertRaisesRegex(ValueError, "no exemplar is kept, though the value counts"):
            joules.add(0.25, {"trace_id": "x" * 200})
        self.assertEqual(owner.slot("energy_joules_total", kind="d"), 2)

    def test_threads_lose_nothing(self):
        joules = self.pages.fraction_counter("energy_joules_total")
        threads = [threading.Thread(target=lambda: [joules.add(0.5) for _ in range(5000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.settled().slot("energy_joules_total", kind="d"), 10_000)

    def test_a_gauge_has_a_unit(self):
        delay = self.pages.gauge("delay_seconds", "Delay.", unit=1e-3)
        delay.set(1500)
        delay.add(-250)
        owner = self.settled()
        self.assertEqual(owner.slot("delay_seconds", kind="d"), 1.25)
        self.pages.gauge("delay_seconds").add(0.5)
        self.assertEqual(owner.slot("delay_seconds", kind="d"), 1.75, "it is the same metric")
        self.assertIs(type(self.pages.gauge("depth")), pingloom_pages.Gauge, "without a unit nothing is multiplied")
        for wrong in (1e-31, -1, math.nan):
            with self.assertRaisesRegex(ValueError, "unit is not a number"):
                self.pages.gauge("wrong", unit=wrong)
        self.assertTrue(self.pages.remove("delay_seconds"))
        delay.set(3)
        self.assertEqual(owner.slot("delay_seconds", kind="d"), 1.75, "its handles are inert")


if __name__ == "__main__":
    unittest.main()
