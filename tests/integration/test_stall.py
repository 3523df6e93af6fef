"""A process that does not run for a while is not network loss."""

import signal
import time
import unittest

from mesh import Mesh
from processes import eventually


class Stall(unittest.TestCase):
    def test_a_stopped_agent_causes_no_loss(self):
        mesh = Mesh(self, hosts=3, protocols=("udp", "tcp"), interval="50ms", timeout="500ms",
                    window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        mesh.wait_for_rows("tcp", state="ok")
        seen = {}

        def gather():
            for probe in ("udp", "tcp"):
                for pair, row in mesh.rows(probe).items():
                    seen[probe, *pair, row["start"]] = row

        stalled = mesh.agents[1]
        before = time.time()
        stalled.signal(signal.SIGSTOP)
        self.addCleanup(stalled.signal, signal.SIGCONT)
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            gather()
            time.sleep(0.05)
        stalled.signal(signal.SIGCONT)
        resumed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before + 5))

        def done():
            gather()
            return all(row["start"] >= resumed for row in mesh.rows("udp").values())

        eventually(done, 40, "windows after the stall", interval=0.1)
        lossy = {key: row for key, row in seen.items()
                 if row["lost"] or row["refused"] or row["unreachable"]}
        self.assertEqual(lossy, {}, "the stall shows as loss")
        flagged = [key for key, row in seen.items() if row["anomalous"].get("stalled", 0) > 0]
        self.assertTrue(flagged, "no row counts anomalous.stalled")
        # The stall must not be in the network times either.
        slow = [row for key, row in seen.items()
                if key[0] == "udp" and row.get("network_ns", {}).get("max", 0) > 300_000_000]
        self.assertEqual(slow, [])
        self.assertGreater(mesh.agent_metrics(1)['pingloom_agent_stalls_total{protocol="udp"}'], 0)


if __name__ == "__main__":
    unittest.main()
