"""Bursts: ordered over HTTP, run by the source's agent, and read back through the controller as results arrive."""

import json
import time
import unittest

from mesh import Mesh
from processes import eventually


class Burst(unittest.TestCase):
    def mesh(self, protocols, interval="200ms", extra=""):
        mesh = Mesh(self, hosts=2, protocols=protocols)
        mesh.write_pinglist(mesh.mesh_pinglist(protocols=protocols, interval=interval) + extra)
        mesh.start()
        for protocol in protocols:
            mesh.wait_for_rows(protocol, state="ok")
        return mesh

    def post(self, mesh, body, content_type="application/json", origin=None):
        headers = {"Content-Type": content_type, **({"Origin": origin} if origin else {})}
        return mesh.ask_http("POST", "/api/v1/bursts", body=json.dumps(body), headers=headers)

    def start(self, mesh, probe, **more):
        source, destination = mesh.addresses[:2]
        answer = self.post(mesh, {"probe": probe, "source": source, "destination": destination, **more})
        self.assertEqual(answer.status, 202, answer.body)
        return answer.json()["id"]

    def follow(self, mesh, burst, seconds=20):
        """All that was shown of it until it was over."""
        seen = []

        def over():
            seen.append(mesh.get(f"/api/v1/bursts/{burst}").json())
            return seen[-1]["state"] != "running"

        eventually(over, seconds, "the burst is over", interval=0.05)
        return seen

    def test_every_protocol(self):
        mesh = self.mesh(("udp", "tcp", "rdma"))
        for probe in ("udp", "tcp", "rdma"):
            with self.subTest(probe):
                measured = self.measured(mesh, probe)
                for ping in measured:
                    self.assertLessEqual(ping["network_ns"], ping["rtt_ns"])

    def measured(self, mesh, probe):
        """The pings of a burst that have a network time. Those sent while a busy machine stands still have none, so another
        burst is tried then."""
        for _ in range(5):
            burst = self.follow(mesh, self.start(mesh, probe, count=30))[-1]
            self.assertEqual((burst["state"], burst["reason"], burst["agent"]), ("done", None, "host-0"))
            pings = burst["pings"]
            self.assertEqual([ping["sequence"] for ping in pings], list(range(1, 31)))
            measured = [ping for ping in pings if ping["result"] == "received" and "network_ns" in ping]
            if len(measured) > 20:
                return measured
        raise AssertionError(f"{len(measured)} pings were measured: {pings}")

    def test_results_come_while_it_goes_on_and_rows_do_not_know_of_it(self):
        mesh = self.mesh(("udp",))
        seen = self.follow(mesh, self.start(mesh, "udp", count=100, interval_ns=20_000_000))
        partial = [len(burst["pings"]) for burst in seen if 0 < len(burst["pings"]) < 100]
        self.assertGreater(len(set(partial)), 5, "it was shown as it arrived")
        self.assertEqual(len(seen[-1]["pings"]), 100)
        # A window of 1 s has 5 pings every 200 ms, whatever the burst has sent meanwhile.
        time.sleep(2.5)
        for row in mesh.rows("udp").values():
            self.assertLessEqual(row["sent"], 7, row)
        source, destination = mesh.addresses
        past = mesh.get(f"/api/v1/history/pairs/udp/{source}/{destination}").json()["rows"]
        self.assertGreater(len(past), 3)
        self.assertLessEqual(max(row["sent"] for row in past), 7)
        metrics = mesh.get("/metrics").body
        self.assertIn("pingloom_controller_bursts_total 1\n", metrics)

    def test_one_of_several_paths(self):
        mesh = Mesh(self, hosts=2, protocols=("rdma",))
        mesh.write_pinglist(mesh.mesh_pinglist(protocols=("rdma",)) + "    paths: 3\n")
        mesh.start()
        source, destination = mesh.addresses

        def there():
            pair = mesh.get(f"/api/v1/pairs/rdma/{source}/{destination}")
            row = pair.json() if pair.status == 200 else {}
            return row.get("state") == "ok" and [path["path"] for path in row["paths"]] == [1, 2, 3]

        eventually(there, 30, "the pair is well, on all of its paths")
        burst = self.follow(mesh, self.start(mesh, "rdma", path=3, count=10))[-1]
        self.assertEqual((burst["state"], burst["path"]), ("done", 3))
        self.assertEqual({ping["result"] for ping in burst["pings"]}, {"received"})
        past = mesh.get(f"/api/v1/history/pairs/rdma/{source}/{destination}?path=2").json()["rows"]
        self.assertTrue(past and all(each["path"] == 2 for each in past), past)

    def test_an_agent_that_dies_ends_it_with_the_reason(self):
        mesh = self.mesh(("udp",))
        burst = self.start(mesh, "udp", count=100, interval_ns=200_000_000)
        eventually(lambda: mesh.get(f"/api/v1/bursts/{burst}").json()["pings"], 10, "the first pings")
        mesh.agents[0].kill()
        last = self.follow(mesh, burst)[-1]
        self.assertEqual((last["state"], last["reason"]), ("failed", "agent host-0 has gone"))
        self.assertLess(len(last["pings"]), 100)
        answer = self.post(mesh, {"probe": "udp", "source": mesh.addresses[0], "destination": mesh.addresses[1]})
        self.assertEqual(answer.status, 409, answer.body)
        self.assertIn("no agent", answer.body)

    def test_a_host_that_has_died_is_lost_pings(self):
        mesh = self.mesh(("udp",))
        mesh.agents[1].kill()
        burst = self.follow(mesh, self.start(mesh, "udp", count=3))[-1]
        self.assertEqual(burst["state"], "done")
        self.assertLessEqual({ping["result"] for ping in burst["pings"]}, {"lost", "refused"}, burst)

    def test_one_at_a_time_and_nobody_from_elsewhere(self):
        mesh = self.mesh(("udp",))
        source, destination = mesh.addresses
        body = {"probe": "udp", "source": source, "destination": destination, "count": 50, "interval_ns": 20_000_000}
        self.assertEqual(self.post(mesh, body, origin="http://evil.example").status, 403)
        self.assertEqual(self.post(mesh, body, content_type="text/plain").status, 415)
        self.assertEqual(self.post(mesh, {**body, "count": 1000}).status, 400)
        first = self.post(mesh, body, origin=mesh.url)
        self.assertEqual(first.status, 202)
        second = self.post(mesh, body)
        self.assertEqual(second.status, 429, second.body)
        self.assertIn("busy", second.body)
        self.assertEqual(self.follow(mesh, first.json()["id"])[-1]["state"], "done")
        self.assertEqual(self.post(mesh, body).status, 202)
        mesh.assert_all_alive()


if __name__ == "__main__":
    unittest.main()
