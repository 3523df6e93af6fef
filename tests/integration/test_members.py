"""`members: registered`: a mesh forms without an edit, shrinks when agents are gone for good, and outlives its controller."""

import json
import unittest

from mesh import Mesh
from processes import eventually

PINGLIST = """version: 1
defaults: { interval: 100ms, timeout: 300ms, window: 1s }
groups:
  all: { members: [{ registered: { max: 3, forget: 5s } }] }
probes:
  - { name: udp, protocol: udp, mesh: all }
  - { name: rdma, protocol: rdma, mesh: [{ registered: { forget: 5s } }] }
"""


class Members(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=4)
        self.mesh.write_pinglist(PINGLIST)
        self.mesh.start_controller()

    def members(self, probe):
        return {source for source, _ in self.mesh.states(probe)}

    def assert_mesh(self, probe, count):
        addresses = self.mesh.addresses[:count]
        def complete():
            states = self.mesh.states(probe)
            return states.keys() == self.mesh.pairs(addresses) and set(states.values()) == {"ok"}
        eventually(complete, 30, f"{probe} is a mesh of {count}")

    def plans_taken(self, index):
        return self.mesh.agent_metrics(index)["pingloom_agent_plans_taken_total"]

    def plan_hash(self):
        return self.mesh.status()["pinglist"]["hash"]

    def test_agents_that_register_are_members_until_they_are_forgotten(self):
        self.assertEqual(self.mesh.get("/api/v1/probes").json()["probes"], [], "an empty probe is in no plan")
        for index in range(2):
            self.mesh.start_agent(index)
        self.assert_mesh("udp", 2)
        self.assert_mesh("rdma", 2)
        grid = self.mesh.get("/api/v1/grid?probe=udp&metric=loss").json()
        self.assertEqual(grid["source_names"], ["host-0", "host-1"], "they appear by their id")
        self.mesh.start_agent(2)
        self.assert_mesh("udp", 3)
        self.assertEqual(self.mesh.status()["pinglist"]["warnings"], [])

        # The fourth is beyond the cap of one probe, and displaces nobody.
        self.mesh.start_agent(3)
        self.assert_mesh("rdma", 4)
        self.assert_mesh("udp", 3)
        warnings = eventually(lambda: self.mesh.status()["pinglist"]["warnings"], 10, "the cap is said")
        self.assertIn("host-3", warnings[0])
        shown = self.mesh.cli("status", "--url", self.mesh.url).stdout
        self.assertIn("max: 3", shown)

        # The command counts what the controller knows, and explains where there is none.
        counted = self.mesh.cli("check", str(self.mesh.pinglist_path), "--url", self.mesh.url)
        self.assertEqual(counted.returncode, 0, counted.stdout + counted.stderr)
        self.assertIn("4 agents have registered", counted.stdout)
        self.assertIn("hosts    4\n", counted.stdout)
        plan = self.mesh.cli("plan", str(self.mesh.pinglist_path), "--host", "host-0", "--json", "--url", self.mesh.url)
        self.assertEqual({probe["destination_count"] for probe in json.loads(plan.stdout)["probes"]}, {2, 3})
        silent = self.mesh.cli("check", str(self.mesh.pinglist_path))
        self.assertEqual(silent.returncode, 0, silent.stderr)
        self.assertIn("no controller answers", silent.stdout)
        self.assertEqual(self.mesh.cli("check", str(self.mesh.pinglist_path), "--url", "http://127.0.0.1:1").returncode, 2)

        # One that is stopped is seen as away, and makes room when it is forgotten.
        self.mesh.agents[1].stop()
        gone = self.mesh.addresses[1]
        eventually(lambda: self.mesh.states("udp").get((self.mesh.addresses[0], gone)) == "agent-down", 20, "it is away")
        eventually(lambda: gone not in self.members("udp") | self.members("rdma"), 40, "it is forgotten")
        eventually(lambda: self.members("udp") == set(self.mesh.addresses) - {gone}, 20, "the fourth has its place")
        eventually(lambda: "host-1" not in self.mesh.hosts(), 10, "the list of hosts follows")
        eventually(lambda: self.mesh.status()["pinglist"]["warnings"] == [], 10, "nobody is beyond the cap")

    def test_a_restart_of_the_controller_changes_no_plan(self):
        for index in range(3):
            self.mesh.start_agent(index)
        self.assert_mesh("udp", 3)
        eventually(lambda: self.mesh.status()["agents"]["plan_current"] == 3, 10, "all have the plan")
        before = self.plan_hash()
        plans = [self.plans_taken(index) for index in range(3)]
        self.mesh.controller.kill()
        self.mesh.start_controller()
        seen = set()

        def back():
            status = self.mesh.status()
            seen.add(status["pinglist"]["hash"])
            return status["agents"]["plan_current"] == 3
        eventually(back, 30, "all are back")
        self.assertEqual(seen, {before})
        self.assert_mesh("udp", 3)
        self.assertEqual(plans, [self.plans_taken(index) for index in range(3)], "no agent got another plan")


if __name__ == "__main__":
    unittest.main()
