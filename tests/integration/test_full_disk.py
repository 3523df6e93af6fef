"""A ledger that cannot commit costs history only, and even that comes later: rows stay fresh, agents
keep their windows, and deliver them, in order and once, when it works again."""

import sqlite3
import unittest

import history
import namespaces
from mesh import Mesh
from processes import eventually

IN_FLIGHT = 8  # batches an agent has sent and not acknowledged, at most


class FullDisk(unittest.TestCase):
    def starts(self):
        return {pair: row["start"] for pair, row in self.mesh.rows("udp").items()}

    def assert_rows_advance(self, times):
        """Every pair's row, in Redis and in the grid, is replaced by later ones and by no others."""
        for _ in range(times):
            before = self.starts()

            def later():
                now = self.starts()
                for pair in before.keys() & now.keys():
                    self.assertGreaterEqual(now[pair], before[pair], f"{pair} went back")
                return now.keys() == self.mesh.pairs() and all(
                    now[pair] > before.get(pair, "") for pair in now)

            eventually(later, 20, lambda: f"rows of later windows than {before}")
            # A busy machine holds agents up, which they say.
            self.assertLessEqual(set(self.mesh.states("udp").values()), {"ok", "anomalous"})

    def waiting(self):
        return [self.mesh.agent_metrics(i)["pingloom_agent_spool_batches"] for i in self.mesh.agents]

    def assert_history_is_said_to_wait(self, log_lines=1):
        history_status = eventually(lambda: not self.mesh.status()["history"]["writing"]
                                    and self.mesh.status()["history"], 30, "the status says so")
        self.assertTrue(history_status["error"])
        self.assertEqual(self.mesh.controller_metrics()["pingloom_controller_history_writing"], 0)
        status = self.mesh.cli("status", "--url", self.mesh.url)
        self.assertEqual(status.returncode, 1)
        self.assertIn("history is not written", status.stdout)
        said = lambda: self.mesh.controller.log().count("history cannot be written")
        eventually(lambda: said() >= log_lines, 10, "the log does")
        self.assertEqual(said(), log_lines)

    def assert_all_is_delivered_once(self):
        eventually(lambda: self.assert_rows_advance(1) or all(n <= 1 for n in self.waiting()), 90,
                   "the spools are delivered", interval=0.01)
        self.assert_rows_advance(3)
        for source in self.mesh.addresses:
            history.assert_contiguous(self, self.mesh, "udp", source, per_window=10)
        control = self.mesh.status()["control"]
        self.assertGreater(control["batches_shown"], 0)
        self.assertTrue(self.mesh.status()["history"]["writing"])
        self.assertEqual(self.mesh.cli("status", "--url", self.mesh.url).returncode, 0)
        dropped = [self.mesh.agent_metrics(i)["pingloom_agent_spool_dropped_batches_total"]
                   for i in self.mesh.agents]
        self.assertEqual(dropped, [0, 0, 0])

    def outlast(self):
        """Until more waits than may be unacknowledged, with fresh rows all the time."""
        while min(self.waiting()) < 2 * IN_FLIGHT:
            self.assert_rows_advance(1)

    def test_full_disk(self):
        self.mesh = Mesh(self, hosts=3, interval="100ms", window="1s")
        state_dir = self.mesh.directory / "controller"
        namespaces.mount_small_disk(self, state_dir, 16 << 20)
        self.mesh.start()
        self.mesh.wait_for_rows("udp", state="ok")
        namespaces.fill(state_dir / "filled")
        self.assert_history_is_said_to_wait()
        self.outlast()
        # Nothing is forgotten when agent and controller are killed meanwhile.
        self.mesh.agents[0].kill()
        self.mesh.start_agent(0)
        self.mesh.controller.kill()
        self.mesh.start_controller()
        self.mesh.wait_for_rows("udp", state="ok")
        self.assert_rows_advance(3)
        self.assert_history_is_said_to_wait(log_lines=2)  # once in each run
        (state_dir / "filled").unlink()
        self.assert_all_is_delivered_once()

    def test_history_locked_by_another_program(self):
        self.mesh = Mesh(self, hosts=3, interval="100ms", window="1s").start()
        self.mesh.wait_for_rows("udp", state="ok")
        other = sqlite3.connect(self.mesh.directory / "controller" / "history.sqlite",
                                isolation_level=None, timeout=10)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        self.assert_history_is_said_to_wait()
        self.outlast()
        other.execute("ROLLBACK")
        self.assert_all_is_delivered_once()


if __name__ == "__main__":
    unittest.main()
