"""A mesh over a real network, on hosts of their own: IPv6 and IPv4 side by side, and the traffic
class of every packet, as the wire shows it."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import private_network
import probe_packet
from fabric import Fabric
from mesh import Mesh
from processes import Process, binary, eventually

DSCP_AND_ECN = 106  # AF31 and ECT(0)
BYTE_IN_HEADER = {4: "meta nfproto ipv4 @nh,8,8", 6: "meta nfproto ipv6 @nh,4,8"}
KINDS = {"ping": probe_packet.PING, "pong": probe_packet.PONG, "ack": probe_packet.ACK}


class OverAFabric(unittest.TestCase):
    def setUp(self):
        self.fabric = Fabric(self)

    def mesh(self, probes, hosts=2):
        mesh = Mesh(self, hosts=hosts, network=self.fabric)
        mesh.write_pinglist("version: 1\ndefaults: { interval: 50ms, timeout: 300ms, window: 1s }\n"
                            "probes:\n" + probes.format(
                                v4=", ".join(of[0] for of in mesh.hosts_addresses),
                                v6=", ".join(of[1] for of in mesh.hosts_addresses)))
        return mesh.start()

    @staticmethod
    def pairs(mesh, family):
        return mesh.pairs([addresses[family] for addresses in mesh.hosts_addresses])

    def test_ipv6_mesh(self):
        mesh = self.mesh("  - {{ name: udp, protocol: udp, mesh: [{v6}] }}\n"
                         "  - {{ name: tcp, protocol: tcp, mesh: [{v6}] }}\n", hosts=3)
        for probe in ("udp", "tcp"):
            rows = mesh.wait_for_rows(probe, self.pairs(mesh, 1), state="ok")
            self.assertEqual(rows.keys(), self.pairs(mesh, 1))
            for pair, row in rows.items():
                self.assertEqual((row["received"], row["clock"]), (row["sent"], "kernel"), pair)
                self.assertGreater(row["network_ns"]["p50"], 0, pair)
                self.assertLess(row["network_ns"]["p50"], 50_000_000, pair)
        # Written in another way, it is the same address.
        pair = mesh.get("/api/v1/pairs/udp/fd77:0:0::1/FD77::0002").json()
        self.assertEqual((pair["source"], pair["destination"]), ("fd77::1", "fd77::2"))
        answer = mesh.cli("results", "--redis", f"unix:{mesh.redis_socket}", "--probe", "tcp", "--json",
                          "--src", "fd77:0::1", "--dst", "fd77::3")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([json.loads(line)["destination"] for line in answer.stdout.splitlines()],
                         ["fd77::3"])
        words = ("path", "fd77:0::1", "FD77::3", "--probe", "tcp", "--url", mesh.url)
        eventually(lambda: "connection from port" in mesh.cli(*words).stdout, 40, "a connection is traced and shown")
        ping = mesh.cli("ping", "udp", "fd77::2", "--port", str(mesh.port), "-c", "3", "-i", "50ms")
        self.assertEqual(ping.returncode, 0, ping.stdout + ping.stderr)
        # A host that is gone: its agent is known, so it is no loss.
        mesh.agents[2].kill()
        gone = {pair for pair in self.pairs(mesh, 1) if pair[1] == "fd77::3" and pair[0] != "fd77::3"}
        eventually(lambda: {mesh.states("udp")[pair] for pair in gone} == {"agent-down"}, 20,
                   "agent-down")

    def test_families_side_by_side(self):
        mesh = self.mesh("  - {{ name: udp, protocol: udp, mesh: [{v4}, {v6}] }}\n")
        mesh.wait_for_rows("udp", self.pairs(mesh, 0) | self.pairs(mesh, 1), state="ok")
        self.assertEqual(mesh.states("udp").keys(), self.pairs(mesh, 0) | self.pairs(mesh, 1),
                         "no pair is of two families")

    @staticmethod
    def count_classes(table):
        """Arriving packets of each kind and family, with the class that was asked for or without."""
        for family, field in BYTE_IN_HEADER.items():
            for kind, number in KINDS.items():
                for name, match in (("right", f"{field} {DSCP_AND_ECN}"),
                                    ("wrong", f"{field} != {DSCP_AND_ECN}")):
                    table.count("arriving", f"{kind}{family}_{name}",
                                private_network.udp_probe(number, match))

    def test_traffic_class_of_ping_pong_and_ack(self):
        # With this timeout each exchange has an ACK (docs/probe-packets.md).
        mesh = self.mesh(f"  - {{{{ name: udp, protocol: udp, traffic_class: {DSCP_AND_ECN}, "
                         "timeout: 150ms, mesh: [{v4}, {v6}] }}\n")
        mesh.wait_for_rows("udp", self.pairs(mesh, 0) | self.pairs(mesh, 1), state="ok")
        table = private_network.Table(lambda: self.fabric.inside(1))
        self.count_classes(table)
        for family in BYTE_IN_HEADER:
            for kind in KINDS:
                eventually(lambda: table.packets(f"{kind}{family}_right") >= 40, 20,
                           f"40 packets {kind} over IPv{family}")
                self.assertEqual(table.packets(f"{kind}{family}_wrong"), 0, f"{kind}, IPv{family}")

    def test_a_probe_without_traffic_class(self):
        """Beside another one with: each packet has the class of its own probe."""
        mesh = self.mesh("  - {{ name: plain, protocol: udp, mesh: [{v4}] }}\n"
                         f"  - {{{{ name: marked, protocol: udp, traffic_class: {DSCP_AND_ECN}, "
                         "payload: 200, mesh: [{v4}] }}\n")
        for probe in ("plain", "marked"):
            mesh.wait_for_rows(probe, state="ok")
        table = private_network.Table(lambda: self.fabric.inside(1))
        ping = private_network.udp_probe(probe_packet.PING, "ip saddr 10.77.0.1")
        for name, match in (("marked", "udp length >= 200 @nh,8,8 106"),
                            ("marked_wrong", "udp length >= 200 @nh,8,8 != 106"),
                            ("plain", "udp length < 200 @nh,8,8 0"),
                            ("plain_wrong", "udp length < 200 @nh,8,8 != 0")):
            table.count("arriving", name, f"{ping} {match}")
        eventually(lambda: min(table.packets("marked"), table.packets("plain")) >= 40, 20,
                   "40 packets of each probe")
        self.assertEqual((table.packets("marked_wrong"), table.packets("plain_wrong")), (0, 0))

    def test_rows_tell_the_two_ways_apart(self):
        """Answers are lost on their way to the first host, and its PINGs are not."""
        mesh = self.mesh("  - {{ name: udp, protocol: udp, mesh: [{v4}] }}\n"
                         "  - {{ name: rdma, protocol: rdma, paths: 2, mesh: [{v4}] }}\n")
        for probe in ("udp", "rdma"):
            mesh.wait_for_rows(probe, state="ok")
        (first, _), (second, _) = mesh.hosts_addresses

        def same_window(probe, path, lost):
            rows = [mesh.get(f"/api/v1/pairs/{probe}/{a}/{b}").json()
                    for a, b in ((first, second), (second, first))]
            if path:
                rows = [next((row for row in pair.get("paths", []) if row["path"] == path), {})
                        for pair in rows]
            if not all("inbound" in row for row in rows) or rows[0]["start"] != rows[1]["start"]:
                return None
            there, back = rows
            return rows if (there["received"] == 0) == lost else None

        flows = (("udp", 0), ("rdma", 1), ("rdma", 2))
        for flow in flows:
            there, back = eventually(lambda: same_window(*flow, lost=False), 30, f"arrivals of {flow}")
            self.assertEqual((there["inbound"], back["inbound"]), (back["sent"], there["sent"]), flow)
        table = private_network.Table(lambda: self.fabric.inside(0))
        for kind in (probe_packet.PONG, probe_packet.ACK):
            table.count("arriving", f"udp{kind}", private_network.udp_probe(kind), "drop")
            # With RDMA, 20 bytes of BTH and DETH come first.
            table.count("arriving", f"rdma{kind}",
                        f"udp dport 4791 @th,224,16 0x504c @th,248,8 {kind}", "drop")
        for flow in flows:
            there, back = eventually(lambda: same_window(*flow, lost=True), 30, f"lost answers of {flow}")
            self.assertEqual(there["lost"], there["sent"], flow)
            self.assertEqual((there["inbound"], back["inbound"]), (back["sent"], there["sent"]), flow)
            self.assertEqual(back["lost"], 0, flow)

    def test_traffic_class_of_tcp(self):
        """The kernel sets a TCP socket's ECN bits itself: the DSCP is what a probe can choose."""
        mesh = self.mesh(f"  - {{{{ name: tcp, protocol: tcp, traffic_class: {DSCP_AND_ECN}, "
                         "mesh: [{v4}, {v6}] }}\n")
        mesh.wait_for_rows("tcp", self.pairs(mesh, 0) | self.pairs(mesh, 1), state="ok")
        table = private_network.Table(lambda: self.fabric.inside(1))
        for family, field in BYTE_IN_HEADER.items():
            syn = f"tcp dport {mesh.port} tcp flags & (syn | ack) == syn"
            name = "ip" if family == 4 else "ip6"
            table.count("arriving", f"right{family}", f"{syn} {name} dscp {DSCP_AND_ECN >> 2}")
            table.count("arriving", f"wrong{family}", f"{syn} {name} dscp != {DSCP_AND_ECN >> 2}")
        for family in BYTE_IN_HEADER:
            eventually(lambda: table.packets(f"right{family}") >= 20, 20, f"20 SYNs over IPv{family}")
            self.assertEqual(table.packets(f"wrong{family}"), 0)

    def test_rdma_ping_between_two_hosts_alone(self):
        """Without a controller or an agent: the listening side finds its addresses itself."""
        addresses = self.fabric.hosts(2)
        folder = tempfile.TemporaryDirectory(prefix="pingloom-it-")
        self.addCleanup(folder.cleanup)
        listener = Process("listener",
                           [binary("pingloom"), "ping", "rdma", "--listen", "-d", "soft"],
                           pathlib.Path(folder.name, "log"), inside=lambda: self.fabric.inside(1))
        self.addCleanup(listener.discard)
        eventually(lambda: "stop with Ctrl-C" in listener.log(), 20, "it listens")
        for target in addresses[1]:
            self.assertIn(f"'pingloom ping rdma {target}'", listener.log())
            ping = subprocess.run([binary("pingloom"), "ping", "rdma", target, "-d", "soft", "-c", "3",
                                   "-i", "50ms", "--json"], capture_output=True, text=True, timeout=30,
                                  preexec_fn=lambda: self.fabric.inside(0))
            self.assertEqual(ping.returncode, 0, ping.stdout + ping.stderr)
            *exchanges, _ = map(json.loads, ping.stdout.splitlines())
            self.assertEqual([exchange["outcome"] for exchange in exchanges], 3 * ["received"])
        self.assertEqual(listener.stop(), 0, listener.tail())
        self.assertIn("answered 6 pings", listener.log())


if __name__ == "__main__":
    unittest.main()
