"""kill -9 of the controller: agents go on; no closed window is lost or counted twice."""

import os
import signal
import unittest

import history
from mesh import Mesh
from processes import children, eventually


class ControllerDeath(unittest.TestCase):
    def delivered(self, mesh):
        return all(mesh.agent_metrics(index)["pingloom_agent_spool_batches"] == 0
                   and mesh.agent_metrics(index)["pingloom_agent_controller_connected"] == 1
                   for index in mesh.agents)

    def check_history(self, mesh, per_window=10):
        for probe in ("udp", "tcp"):
            for source in mesh.addresses:
                history.assert_contiguous(self, mesh, probe, source, per_window)

    def test_no_window_is_lost_or_counted_twice(self):
        mesh = Mesh(self, hosts=3, protocols=("udp", "tcp"), interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        for _ in range(3):
            pings = mesh.agent_metrics(0)['pingloom_agent_pings_sent_total{protocol="udp"}']
            mesh.controller.kill()
            eventually(lambda: all(mesh.agent_metrics(index)["pingloom_agent_spool_batches"] >= 3
                                   for index in mesh.agents), 40, "agents spool")
            more = mesh.agent_metrics(0)['pingloom_agent_pings_sent_total{protocol="udp"}']
            self.assertGreater(more, pings, "agents go on probing")
            mesh.start_controller()
            eventually(lambda: self.delivered(mesh), 30, "the spools are delivered")
        mesh.wait_for_rows("udp", state="ok")
        mesh.wait_for_rows("tcp", state="ok")
        self.check_history(mesh)
        self.assertGreaterEqual(len(history.windows(mesh, "udp", mesh.addresses[0])), 9)

    def test_killed_while_committing(self):
        """Killed at moments when batches are under way, with no pause to recover."""
        mesh = Mesh(self, hosts=3, protocols=("udp", "tcp"), interval="50ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        for _ in range(5):
            newest = mesh.rows("udp")[mesh.addresses[0], mesh.addresses[1]]["start"]
            eventually(lambda: mesh.rows("udp")[mesh.addresses[0], mesh.addresses[1]]["start"]
                       > newest, 40, "a new window arrives", interval=0.005)
            mesh.controller.kill()
            mesh.start_controller()
            eventually(lambda: mesh.rows("udp").keys() == mesh.pairs(), 40, "Redis is filled again")
        eventually(lambda: self.delivered(mesh), 30, "the spools are delivered")
        self.check_history(mesh, per_window=20)

    def test_replayed_windows_never_replace_newer_ones(self):
        mesh = Mesh(self, hosts=3, interval="100ms", window="1s")
        mesh.redis = f"unix:{mesh.redis_socket}"
        mesh.start_redis()
        mesh.start()
        mesh.wait_for_rows("udp", state="ok")
        mesh.controller.kill()
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_spool_batches"] >= 4, 20,
                   "agents spool")
        # A new incarnation probes by the kept plan while the old one's batches still wait.
        mesh.agents[0].kill()
        mesh.start_agent(0)
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_spool_batches"] >= 6, 20,
                   "old and new windows wait together")
        newest = {}

        def delivered():
            for pair, row in mesh.rows("udp").items():
                self.assertGreaterEqual(row["start"], newest.get(pair, ""), f"{pair} went back")
                newest[pair] = row["start"]
            return self.delivered(mesh)

        mesh.start_controller(wait=False)
        eventually(delivered, 30, "the spools are delivered", interval=0.005)
        for _ in range(20):
            delivered()

    def test_controller_remembers_agents_it_knew(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        mesh.controller.kill()
        mesh.start_controller()
        eventually(lambda: mesh.status()["agents"]["alive"] == 2, 20, "both agents are back")
        eventually(lambda: set(mesh.states("udp").values()) == {"ok"}, 20, "all pairs ok")


class RedisDeath(unittest.TestCase):
    def latest(self, mesh):
        return {pair: row["start"] for pair, row in mesh.rows("udp").items()}

    def refilled(self, mesh, before):
        now = self.latest(mesh)
        return now.keys() == mesh.pairs() and all(now[pair] > before[pair] for pair in now)

    def test_embedded_redis_killed(self):
        mesh = Mesh(self, hosts=3, interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        before = self.latest(mesh)
        servers = children(mesh.controller.pid, "redis-server")
        self.assertEqual(len(servers), 1)
        os.kill(servers[0], signal.SIGKILL)
        eventually(lambda: self.refilled(mesh, before), 40, "Redis is back with newer rows")
        mesh.assert_all_alive()
        self.assertNotIn(servers[0], children(mesh.controller.pid, "redis-server"))
        self.assertEqual(set(mesh.ask_redis("SMEMBERS", "pingloom:sources:udp")), set(mesh.addresses))
        self.assertTrue(mesh.status()["redis"]["connected"])

    def test_external_redis_stopped_and_started(self):
        mesh = Mesh(self, hosts=3, interval="100ms", window="1s")
        mesh.redis = f"unix:{mesh.redis_socket}"
        server = mesh.start_redis()
        mesh.start()
        mesh.wait_for_rows("udp", state="ok")
        before = self.latest(mesh)
        server.stop()
        eventually(lambda: not mesh.status()["redis"]["connected"], 20, "the outage is noticed")
        self.assertEqual(mesh.get("/readyz").status, 503)
        self.assertEqual(mesh.cli("status", "--url", mesh.url).returncode, 1)
        answer = mesh.cli("results", "--redis", mesh.redis)
        self.assertEqual(answer.returncode, 2)
        committed = mesh.status()["control"]["rows_committed"]
        eventually(lambda: mesh.status()["control"]["rows_committed"] > committed + 12, 20,
                   "nothing blocks: rows are committed while Redis is away")
        self.assertEqual(set(mesh.states("udp").values()), {"ok"})
        mesh.start_redis()
        eventually(lambda: self.refilled(mesh, before), 40, "Redis has the latest rows again")
        self.assertEqual(mesh.get("/readyz").status, 200)

    def test_redis_with_foreign_data_is_left_alone(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        mesh.redis = f"unix:{mesh.redis_socket}"
        mesh.start_redis()
        mesh.ask_redis("SET", "someone-elses", "value")
        mesh.ask_redis("HSET", "pingloom:latest:gone:10.0.0.1", "10.0.0.2", "{}")
        mesh.start()
        mesh.wait_for_rows("udp", state="ok")
        self.assertEqual(mesh.ask_redis("GET", "someone-elses"), "value")
        events = mesh.ask_redis("XRANGE", "pingloom:events", "-", "+")
        self.assertTrue(events, "pairs that became ok are events")
        for _, fields in events:
            self.assertEqual(len(fields) % 2, 0)


if __name__ == "__main__":
    unittest.main()
