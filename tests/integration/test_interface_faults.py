"""Faults of the network interface that a soft RDMA device uses, while the agent reaches its controller
by another interface: the pairs are unreachable or misfit, never lossy for ever, and recover."""

import subprocess
import time
import unittest

from fabric import FabricWithData
from mesh import Mesh
from processes import binary, eventually

BROKEN = 1  # the host whose interface has the fault


class InterfaceFaults(unittest.TestCase):
    def setUp(self):
        self.fabric = FabricWithData(self)
        self.mesh = Mesh(self, hosts=3, network=self.fabric)
        self.pinglist(64)
        self.mesh.start()
        self.touched = {pair for pair in self.mesh.pairs() if self.mesh.addresses[BROKEN] in pair}
        self.mesh.wait_for_rows("rdma", state="ok")

    def pinglist(self, payload):
        self.mesh.write_pinglist(
            "version: 1\nprobes:\n  - { name: rdma, protocol: rdma, interval: 50ms, timeout: 300ms, window: 1s, "
            f"payload: {payload}, mesh: [{', '.join(self.mesh.addresses)}] }}\n")

    def break_it(self, *words):
        self.fabric.at(BROKEN, *words)

    def endpoints(self):
        return self.mesh.hosts()[f"host-{BROKEN}"]["endpoints"]

    def states(self):
        """Returns the states of the pairs with the broken host, and of the others."""
        states = self.mesh.states("rdma")
        return ({state for pair, state in states.items() if pair in self.touched},
                {state for pair, state in states.items() if pair not in self.touched})

    def becomes(self, state):
        eventually(lambda: self.states() == ({state}, {"ok"}), 15, lambda: f"{state}: {self.mesh.states('rdma')}")

    def stays(self, state, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.assertEqual(self.states(), ({state}, {"ok"}))
            time.sleep(0.2)

    def timed(self, condition, what):
        began = time.monotonic()
        eventually(condition, 5, what, interval=0.02)
        took = time.monotonic() - began
        print(f"\n{what}: after {took:.2f} s", flush=True)
        self.assertLess(took, 2.5)

    def story(self, fault, repair, logged):
        self.break_it(*fault)
        self.timed(lambda: not self.endpoints(), "the endpoint is gone")
        self.becomes("unreachable")
        self.stays("unreachable", 3)
        self.assertTrue(self.mesh.hosts()[f"host-{BROKEN}"]["alive"])
        self.assertIn(logged, self.mesh.agents[BROKEN].log())
        self.break_it(*repair)
        self.timed(lambda: len(self.endpoints()) == 1, "the endpoint is there again")
        self.becomes("ok")
        self.mesh.assert_all_alive()

    def test_a_link_that_goes_down(self):
        self.story(("link", "set", "data0", "down"), ("link", "set", "data0", "up"), "the link of data0 is down")

    def test_an_address_that_is_deleted(self):
        address = (self.fabric.data_address(BROKEN), "dev", "data0")
        self.story(("addr", "del", *address), ("addr", "add", *address), "no network interface has its address any more")

    def test_an_mtu_that_becomes_too_small(self):
        self.pinglist(1024)
        self.becomes("ok")
        self.break_it("link", "set", "data0", "mtu", "1000")
        self.timed(lambda: [one["mtu"] for one in self.endpoints()] == [512], "the endpoint has the MTU")
        self.becomes("misfit")
        told = f"do not fit at {self.mesh.addresses[BROKEN]}, where"
        self.assertIn(f"{told} its RDMA endpoint permits 512 bytes", self.check("--url", self.mesh.url))
        self.assertIn(f"{told} the MTU 1000 of data0 permits 512 bytes",
                      self.check(inside=lambda: self.fabric.inside(BROKEN)))
        self.break_it("link", "set", "data0", "mtu", "1500")
        self.timed(lambda: [one["mtu"] for one in self.endpoints()] == [1024], "the endpoint has the MTU again")
        self.becomes("ok")

    def check(self, *options, inside=None):
        done = subprocess.run([binary("pingloom"), "check", str(self.mesh.pinglist_path), *options],
                              capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, preexec_fn=inside)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main()
