"""Agents without a controller: they start from the kept plan and go on, whatever is missing."""

import shutil
import unittest

import history
from mesh import Mesh
from processes import eventually

SENT = 'pingloom_agent_pings_sent_total{protocol="udp"}'


class KeptPlan(unittest.TestCase):
    def test_agents_probe_at_once_without_a_controller(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        for agent in mesh.agents.values():
            agent.stop()
        mesh.controller.stop()
        for index in (0, 1):
            mesh.start_agent(index)
        for index in (0, 1):
            eventually(lambda: mesh.agent_metrics(index)[SENT] >= 10, 20,
                       "pings by the kept plan, without any controller")
            self.assertEqual(mesh.agent_metrics(index)["pingloom_agent_controller_connected"], 0)
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_spool_batches"] >= 2, 20,
                   "closed windows wait in the spool")
        mesh.start_controller()
        mesh.wait_for_rows("udp", state="ok")
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_spool_batches"] == 0, 40, "delivered")
        history.assert_contiguous(self, mesh, "udp", mesh.addresses[0], 10)

    def test_an_agent_that_never_had_a_plan_waits_for_one(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        for index in (0, 1):
            mesh.start_agent(index)
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_plan_probes"] == 0, 20,
                   "the agent runs")
        mesh.start_controller()
        mesh.wait_for_rows("udp", state="ok")

    def test_a_controller_that_lost_its_state_is_served(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        mesh.controller.stop()
        shutil.rmtree(mesh.directory / "controller")
        mesh.start_controller()
        mesh.wait_for_rows("udp", state="ok")
        eventually(lambda: mesh.status()["agents"]["alive"] == 2, 20, "both are there again")

    def test_a_second_agent_with_the_same_name_is_refused(self):
        mesh = Mesh(self, hosts=2, interval="100ms", window="1s").start()
        mesh.wait_for_rows("udp", state="ok")
        path = mesh.directory / "agent-twin.yaml"
        text = (mesh.directory / "agent-0.yaml").read_text()
        path.write_text(text.replace(mesh.addresses[0], f"{mesh.subnet}.99")
                        .replace("/agent-0", "/agent-twin"))
        from processes import binary
        mesh.run("twin", binary("pingloom-agent"), "--config", str(path))
        eventually(lambda: mesh.status()["control"]["refused_by_reason"]["duplicate_host"] > 0, 20,
                   "the refusal is counted")
        self.assertEqual(set(mesh.states("udp").values()), {"ok"})
        self.assertEqual(mesh.hosts()["host-0"]["addresses"][0]["address"], mesh.addresses[0])


if __name__ == "__main__":
    unittest.main()
