"""A saved pinglist takes effect within a second; a broken one changes nothing and is seen."""

import re
import socket
import time
import unittest

import probe_packet
from mesh import Mesh
from processes import eventually


class Pinglist(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=3, interval="100ms", window="1s").start()
        self.mesh.wait_for_rows(state="ok")

    def listen(self, last_number):
        """A destination without an agent: a UDP socket on the agents' port."""
        address = f"{self.mesh.subnet}.{last_number}"
        stand_in = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(stand_in.close)
        stand_in.bind((address, self.mesh.port))
        stand_in.settimeout(10)
        return address, stand_in

    def seconds_to_first_ping(self, last_number):
        address, stand_in = self.listen(last_number)
        text = self.mesh.mesh_pinglist(addresses=self.mesh.addresses + [address])
        saved = time.monotonic()
        self.mesh.write_pinglist(text)
        while True:
            packet, sender = stand_in.recvfrom(9000)
            if probe_packet.kind_of(packet) == probe_packet.PING:
                self.assertIn(sender[0], self.mesh.addresses)
                return time.monotonic() - saved

    def test_an_edit_is_probed_within_a_second(self):
        # The best of a few: what is measured is pingloom, not the load of the test machine.
        times = []
        for number in (101, 102, 103):
            times.append(self.seconds_to_first_ping(number))
            if times[-1] < 1.0:
                break
        self.assertLess(min(times), 1.0, f"seconds from saving to the first PING: {times}")

    def test_editing_in_place_works_too(self):
        address, stand_in = self.listen(120)
        text = self.mesh.mesh_pinglist(addresses=self.mesh.addresses + [address])
        self.mesh.pinglist_path.write_text(text)
        packet, _ = stand_in.recvfrom(9000)
        self.assertEqual(probe_packet.kind_of(packet), probe_packet.PING)

    def test_removed_destinations_vanish(self):
        gone = self.mesh.addresses[2]
        left = self.mesh.addresses[:2]
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(addresses=left))
        eventually(lambda: self.mesh.rows("udp").keys() == self.mesh.pairs(left), 20,
                   f"only rows of {left} are left in Redis")
        grid = self.mesh.get("/api/v1/grid?probe=udp&metric=loss").json()
        self.assertEqual((grid["sources"], grid["destinations"]), (left, left))
        self.assertEqual(self.mesh.get(f"/api/v1/pairs/udp/{left[0]}/{gone}").status, 404)
        self.assertEqual(set(self.mesh.ask_redis("SMEMBERS", "pingloom:sources:udp")), set(left))
        # Rows of the old plan still under way must not bring it back.
        time_of_last = self.mesh.rows("udp")[left[0], left[1]]["start"]
        eventually(lambda: self.mesh.rows("udp")[left[0], left[1]]["start"] > time_of_last, 20,
                   "a window after the edit")
        self.assertEqual(self.mesh.rows("udp").keys(), self.mesh.pairs(left))

    def test_removed_probe_vanishes(self):
        text = self.mesh.mesh_pinglist().replace("name: udp", "name: other")
        self.mesh.write_pinglist(text)
        self.mesh.wait_for_rows("other", state="ok")
        self.assertEqual(self.mesh.ask_redis("SMEMBERS", "pingloom:probes"), ["other"])
        self.assertEqual(self.mesh.ask_redis("EXISTS", "pingloom:sources:udp",
                                             f"pingloom:latest:udp:{self.mesh.addresses[0]}"), 0)

    def test_a_broken_edit_keeps_the_running_plan_and_is_seen(self):
        before = self.mesh.rows("udp")
        broken = self.mesh.mesh_pinglist().replace("    protocol: udp", "    protocl: udp")
        self.mesh.write_pinglist(broken)
        place = re.compile(re.escape(str(self.mesh.pinglist_path)) + r":\d+:\d+")
        error = eventually(lambda: self.mesh.status()["pinglist"]["error"], 15,
                           "the rejection is in /api/v1/status")
        self.assertRegex(error, place)
        self.assertIn("protocol", error, "says what was meant")
        self.assertRegex(self.mesh.controller.log(), place)
        metrics = self.mesh.controller_metrics()
        self.assertEqual(metrics["pingloom_controller_pinglist_rejections_total"], 1)
        self.assertEqual(metrics["pingloom_controller_pinglist_last_reload_successful"], 0)
        self.assertEqual(self.mesh.cli("status", "--url", self.mesh.url).returncode, 1)
        pair = next(iter(before))
        eventually(lambda: self.mesh.rows("udp")[pair]["start"] > before[pair]["start"], 20,
                   "probing goes on by the plan before")
        self.assertEqual(self.mesh.rows("udp").keys(), before.keys())
        self.mesh.write_pinglist(self.mesh.mesh_pinglist())
        eventually(lambda: self.mesh.status()["pinglist"]["error"] is None, 15,
                   "a good edit clears the error")


if __name__ == "__main__":
    unittest.main()
