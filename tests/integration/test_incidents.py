"""Faults of real processes become incidents that name the right culprit, and nothing else does."""

import json
import signal
import threading
import time
import unittest

from mesh import Mesh
from processes import eventually

SLOW = "{ device: soft, impair: [{ delay: 2ms, jitter: 500us }] }"


class Incidents(unittest.TestCase):
    def mesh(self, hosts=6, protocols=("rdma", "udp"), **options):
        mesh = Mesh(self, hosts=hosts, protocols=protocols, interval="100ms", timeout="300ms",
                    window="1s", **options).start()
        for protocol in protocols:
            mesh.wait_for_rows(protocol, state="ok", seconds=60)
        return mesh

    @staticmethod
    def verdict(mesh):
        return mesh.get("/api/v1/incidents").json()

    def open(self, mesh):
        return self.verdict(mesh)["open"]

    def wait_for_open(self, mesh, kind, culprit, seconds=30):
        def there():
            return next((each for each in self.open(mesh)
                         if each["kind"] == kind and each["culprit"] == culprit), None)

        return eventually(there, seconds, lambda: f"{kind} {culprit}; open: {self.open(mesh)}")

    def wait_for_none(self, mesh, about, seconds=40):
        eventually(lambda: about not in {each["culprit"] for each in self.open(mesh)}, seconds,
                   lambda: f"none about {about}; open: {self.open(mesh)}")

    def accused(self, mesh, but=None):
        """Who was accused, now or lately. These hosts share the machine's processors with everything else that runs, so that
        one of them besides `but` is short of CPU time may be true, and does not count."""
        verdict = self.verdict(mesh)
        return {each["culprit"] for each in verdict["open"] + verdict["recent"]
                if each["kind"] != "host-cpu" or each["culprit"] == but}

    def assert_only(self, mesh, culprit):
        self.assertEqual(self.accused(mesh, but=culprit), {culprit}, self.verdict(mesh))

    def restart_agent(self, mesh, index, rdma=None):
        mesh.agents[index].kill()
        if rdma is None:
            mesh.rdma.pop(index, None)
        else:
            mesh.rdma[index] = rdma
        mesh.start_agent(index)

    def test_a_slow_host_is_named_on_every_surface_and_forgiven(self):
        mesh = self.mesh()
        slow = mesh.addresses[2]
        self.restart_agent(mesh, 2, SLOW)
        incident = self.wait_for_open(mesh, "host", slow)
        self.assertEqual(incident["probes"], ["rdma"])
        self.assertEqual(incident["severity"], "very slow")
        self.assertIn(f"{slow}'s network side is very slow: network ", incident["sentence"])
        self.assertTrue(all(slow in (each["source"], each["destination"])
                            for each in incident["evidence"]), incident)
        # The incident may open before each of the host's pairs has had enough windows.
        row = eventually(lambda: next((row for row in [mesh.rows("rdma")[mesh.addresses[0], slow]]
                                       if row["severity"] == "very slow"), None), 10,
                         lambda: mesh.rows("rdma")[mesh.addresses[0], slow])
        self.assertEqual(row["state"], "ok")
        self.assertRegex(row["because"][0], r"^network_p50 .* x the mesh's median$")
        self.assertEqual(mesh.rows("udp")[mesh.addresses[0], slow]["severity"], "ok")
        told = mesh.ask_redis("HGET", "pingloom:incidents:open", incident["id"])
        self.assertIn("network side is very slow", told)
        kept = json.loads(mesh.ask_redis("GET", f"pingloom:incident:{incident['id']}"))
        self.assertEqual(kept["culprit"], slow)
        self.restart_agent(mesh, 2)
        self.wait_for_none(mesh, slow)
        self.assert_only(mesh, slow)
        self.assertIsNone(mesh.ask_redis("HGET", "pingloom:incidents:open", incident["id"]))

        def past():
            found = mesh.get("/api/v1/history/incidents").json()["incidents"]
            return [(each["id"], bool(each["closed"])) for each in found if each["culprit"] == slow]

        eventually(lambda: past() == [(incident["id"], True)], 10, lambda: f"the ledger: {past()}")

    def test_an_incident_outlives_the_controller(self):
        mesh = self.mesh(protocols=("rdma",))
        slow = mesh.addresses[1]
        self.restart_agent(mesh, 1, SLOW)
        before = self.wait_for_open(mesh, "host", slow)
        eventually(lambda: mesh.get("/api/v1/history/incidents").json()["incidents"], 10,
                   "it is in the ledger")
        mesh.controller.kill()
        mesh.start_controller()
        self.assertIn(before["id"], [each["id"] for each in self.open(mesh)])
        mesh.wait_for_rows("rdma", seconds=40)
        time.sleep(8)
        after = [each for each in self.open(mesh) if each["culprit"] == slow]
        self.assertEqual([(each["id"], each["flaps"]) for each in after], [(before["id"], 0)])
        self.assert_only(mesh, slow)

    def test_a_killed_agent_is_an_incident_of_its_agent(self):
        mesh = self.mesh(protocols=("udp",))
        gone = mesh.addresses[3]
        mesh.agents[3].kill()
        incident = self.wait_for_open(mesh, "agent", gone)
        self.assertIn("agent is gone", incident["sentence"])
        mesh.start_agent(3)
        self.wait_for_none(mesh, gone)
        self.assert_only(mesh, gone)

    def test_a_starved_host_is_short_of_cpu_time(self):
        mesh = self.mesh(protocols=("udp",))
        agent, ended = mesh.agents[4], threading.Event()
        self.addCleanup(ended.set)

        def starve():
            while not ended.is_set():
                agent.signal(signal.SIGSTOP)
                time.sleep(0.012)
                agent.signal(signal.SIGCONT)
                time.sleep(0.002)

        starving = threading.Thread(target=starve)
        starving.start()
        try:
            incident = self.wait_for_open(mesh, "host-cpu", mesh.addresses[4], seconds=40)
            self.assertIn("is short of CPU time", incident["sentence"])
        finally:
            ended.set()
            starving.join()
            agent.signal(signal.SIGCONT)
        self.wait_for_none(mesh, mesh.addresses[4])
        self.assert_only(mesh, mesh.addresses[4])

    def test_a_rolling_restart_and_a_stalled_controller_are_nothing(self):
        mesh = self.mesh()
        for index in range(len(mesh.addresses)):
            mesh.agents[index].stop()
            mesh.start_agent(index)
            time.sleep(2)
        mesh.controller.signal(signal.SIGSTOP)
        time.sleep(8)
        mesh.controller.signal(signal.SIGCONT)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            self.assertEqual(self.accused(mesh), set(), self.verdict(mesh))
            time.sleep(0.5)


if __name__ == "__main__":
    unittest.main()
