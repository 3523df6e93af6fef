"""The kernel's wall clock is set while everything runs: controller, agents, and the time stamps of their packets. On loopback,
for which the guest's kernel stamps as it does elsewhere."""

import collections
import time
import unittest

from lab_mesh import eventually, say  # first: it finds the others
import history
from mesh import Mesh

STEPS = (30, -30, 3600, -7200, 3600)
PROBES = ("udp", "tcp")


class ClockThatIsSet(unittest.TestCase):
    def test_no_window_is_lost_or_counted_twice(self):
        self.mesh = Mesh(self, hosts=2, protocols=PROBES, interval="200ms", timeout="500ms").start()
        for probe in PROBES:
            self.mesh.wait_for_rows(probe, state="ok", seconds=60)
        for step in STEPS:
            self.set_clock(step)
        self.everything_is_held()

    def set_clock(self, seconds):
        say(f"the clock is set by {seconds:+} s")
        before = {(probe, pair): row["start"] for probe in PROBES for pair, row in self.mesh.rows(probe).items()}
        begin = time.monotonic()
        time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)

        def shown():
            rows = {(probe, pair): row for probe in PROBES for pair, row in self.mesh.rows(probe).items()}
            # Redis lets rows expire by the wall clock; they come again with the next window.
            return all(key in rows and rows[key]["start"] > start and rows[key]["state"] == "ok"
                       for key, start in before.items())

        # Emulated: a goal of seconds would measure the emulator.
        eventually(shown, 60, lambda: f"later rows, all ok, than {before}", 0.2)
        say(f"  every pair is ok in a later window after {time.monotonic() - begin:.1f} s")
        time.sleep(5)  # longer than it takes to show: later windows have to come through as well

    def everything_is_held(self):
        refused = self.mesh.status()["control"]["reports_refused"]
        self.assertEqual(set(refused.values()), {0}, refused)
        batches = collections.defaultdict(set)
        windows = 0
        for probe in PROBES:
            for source in self.mesh.addresses:
                found = history.windows(self.mesh, probe, source)
                windows += len(found)
                counted = collections.Counter((window.incarnation, window.index, to)
                                              for window in found for to in window.rows)
                self.assertEqual([key for key, times in counted.items() if times > 1], [], f"{probe} {source}")
                for window in found:
                    batches[window.incarnation].add(window.sequence)
        self.assertEqual(len(batches), len(self.mesh.addresses))
        for incarnation, sequences in batches.items():
            self.assertEqual(sequences, set(range(1, max(sequences) + 1)), f"{incarnation}: lost batches")
        self.assertGreater(windows, 2 * len(PROBES) * len(STEPS))
        say(f"{windows} windows, none lost, none twice")


if __name__ == "__main__":
    unittest.main()
