"""What the rows say is what the wire saw: nftables counts and drops packets between agents."""

import unittest

import history
import private_network
import probe_packet
from mesh import Mesh
from processes import eventually


class Wire(unittest.TestCase):
    def setUp(self):
        private_network.enter()
        self.table = private_network.Table()
        self.seen = {}

    def gather(self, mesh):
        """Every row that Redis ever held, by probe, pair and window; called more often than windows
        close."""
        for probe in mesh.ask_redis("SMEMBERS", "pingloom:probes"):
            for pair, row in mesh.rows(probe).items():
                self.seen[probe, pair, row["start"]] = row

    def total(self, name, pair, after):
        return sum(row[name] for (_, of, start), row in self.seen.items()
                   if of == pair and start >= after)

    def end_probing(self, mesh):
        """No more PINGs reach the wire: the kernel refuses them and they count as unreachable. Waits
        until every window with earlier ones is closed and committed."""
        self.table.block("refused", private_network.udp_probe(probe_packet.PING))

        def over():
            rows = mesh.rows("udp").values()
            return all(0 < row["sent"] == row["unreachable"] for row in rows)

        eventually(over, 40, "windows without any PING on the wire")
        for row in mesh.rows("udp").values():
            self.assertEqual(row["state"], "unreachable", row)

    @staticmethod
    def committed(mesh, name, pair=None):
        """The sum over all windows that were ever committed."""
        return sum(row[name] for source in mesh.addresses
                   for window in history.windows(mesh, "udp", source)
                   for destination, row in window.rows.items()
                   if pair in (None, (source, destination)))

    def test_sent_is_what_left(self):
        ping = private_network.udp_probe(probe_packet.PING)
        self.table.count("sent", "pings", ping)
        self.table.count("sent", "pongs", private_network.udp_probe(probe_packet.PONG))
        self.table.count("sent", "acks", private_network.udp_probe(probe_packet.ACK))
        mesh = Mesh(self, hosts=3, interval="20ms", window="1s").start()
        mesh.wait_for_rows(state="ok")

        def enough():
            self.gather(mesh)
            return len({start for _, _, start in self.seen}) >= 5

        eventually(enough, 30, "five windows", interval=0.1)
        self.end_probing(mesh)
        counted = self.table.packets("pings")
        self.assertGreater(counted, 500)
        self.assertEqual(self.committed(mesh, "sent") - self.committed(mesh, "unreachable"), counted)
        # Those that left before the other agent had its socket were refused.
        refused = self.committed(mesh, "refused")
        answered = self.committed(mesh, "received")
        self.assertEqual((self.committed(mesh, "lost"), answered + refused), (0, counted))
        self.assertLess(refused, counted / 2)
        self.assertEqual(self.table.packets("pongs"), answered, "every PING is answered once")
        self.assertEqual(sum(row["ack_lost"] for row in self.seen.values()), 0)
        # The last exchange of each pair has one, and those before a pause of a second.
        self.assertLess(self.table.packets("acks"), answered / 10)

    def windows_after(self, mesh, number):
        """Gathers until `number` windows that began after now are complete for every pair; returns
        the start of the first."""
        now = max(row["start"] for row in mesh.rows("udp").values())

        def done():
            self.gather(mesh)
            starts = sorted({start for _, _, start in self.seen if start > now})
            complete = [start for start in starts if all(
                ("udp", pair, start) in self.seen for pair in mesh.pairs())]
            # The first may have begun before now: rows come later than their windows.
            return complete[4:] if len(complete) >= 4 + number else None

        return eventually(done, 40, f"{number} whole windows", interval=0.1)[0]

    def quiet_mesh(self, timeout="300ms"):
        mesh = Mesh(self, hosts=3, interval="25ms", timeout=timeout, window="1s").start()
        mesh.wait_for_rows(state="ok")
        return mesh

    def test_dropped_pings_are_exactly_that_loss(self):
        mesh = self.quiet_mesh()
        a, b, _ = mesh.addresses
        self.table.count("arriving", "dropped",
                         private_network.udp_probe(probe_packet.PING, f"ip saddr {a} ip daddr {b}"),
                         "drop")
        first = self.windows_after(mesh, 2)
        for (_, pair, start), row in self.seen.items():
            if start < first:
                continue
            lost = row["sent"] if pair == (a, b) else 0
            self.assertEqual((row["lost"], row["received"]), (lost, row["sent"] - lost), (pair, row))
            self.assertEqual(row["state"], "loss" if lost else "ok", (pair, row))
        self.assertGreaterEqual(self.total("sent", (a, b), first), 20)
        # All of them, to the packet: nothing else is lost, and nothing dropped is missing.
        self.end_probing(mesh)
        self.assertEqual(self.committed(mesh, "lost", (a, b)), self.table.packets("dropped"))
        self.assertEqual(self.committed(mesh, "lost"), self.table.packets("dropped"))

    def test_dropped_pongs_are_loss_and_dropped_acks_are_not(self):
        mesh = self.quiet_mesh(timeout="150ms")  # which is too short to wait for what later PONGs tell
        a, b, c = mesh.addresses
        self.table.count("arriving", "pongs",
                         private_network.udp_probe(probe_packet.PONG, f"ip saddr {b} ip daddr {a}"),
                         "drop")
        self.table.count("arriving", "acks",
                         private_network.udp_probe(probe_packet.ACK, f"ip saddr {c} ip daddr {a}"),
                         "drop")
        first = self.windows_after(mesh, 2)
        for (_, pair, start), row in self.seen.items():
            if start < first:
                continue
            self.assertEqual(row["lost"], row["sent"] if pair == (a, b) else 0, (pair, row))
            self.assertEqual(row["ack_lost"], row["sent"] if pair == (a, c) else 0, (pair, row))
            if pair == (a, c):
                self.assertGreater(row["rtt_ns"]["p50"], 0, "rtt is known without ACK")
                self.assertNotIn("p50", row.get("network_ns") or {}, "the split is not")

    def test_later_pongs_tell_what_dropped_packets_would_have_told(self):
        mesh = self.quiet_mesh()
        a, b, c = mesh.addresses
        pong = private_network.udp_probe(probe_packet.PONG, f"ip saddr {b} ip daddr {a}")
        self.table.count("arriving", "third", pong + " numgen inc mod 3 0", "drop")
        self.table.count("arriving", "acks",
                         private_network.udp_probe(probe_packet.ACK, f"ip saddr {c} ip daddr {a}"),
                         "drop")
        first = self.windows_after(mesh, 2)
        sent, lost = self.total("sent", (a, b), first), self.total("lost", (a, b), first)
        self.assertLessEqual(abs(3 * lost - sent), 6)
        for (_, pair, start), row in self.seen.items():
            if start < first:
                continue
            self.assertEqual(row["ack_lost"], 0, (pair, row))
            self.assertGreater(row["network_ns"]["p50"], 0, (pair, row))

    def test_every_third_ping_dropped(self):
        mesh = self.quiet_mesh()
        a, b, _ = mesh.addresses
        match = private_network.udp_probe(probe_packet.PING, f"ip saddr {b} ip daddr {a}")
        self.table.count("arriving", "third", match + " numgen inc mod 3 0", "drop")
        first = self.windows_after(mesh, 3)
        sent = self.total("sent", (b, a), first)
        lost = self.total("lost", (b, a), first)
        windows = sum(1 for (_, pair, start) in self.seen if pair == (b, a) and start >= first)
        self.assertLessEqual(abs(lost - sent / 3), 1 + windows / 3, f"{lost} of {sent}")

    def test_tcp_states(self):
        mesh = Mesh(self, hosts=2, interval="50ms", timeout="300ms", window="1s")
        a = mesh.addresses[0]
        closed = f"{mesh.subnet}.77"
        silent = f"{mesh.subnet}.78"
        unreachable = "192.0.2.1"  # this network has loopback only
        mesh.write_pinglist(f"""version: 1
defaults: {{ interval: 50ms, timeout: 300ms, window: 1s }}
probes:
  - {{ name: service, protocol: tcp, from: [{a}], to: [{closed}, {silent}, {unreachable}], port: 5001 }}
""")
        self.table.count("arriving", "syns", f"ip daddr {silent} tcp dport 5001", "drop")
        mesh.start()
        pairs = {(a, closed), (a, silent), (a, unreachable)}
        rows = mesh.wait_for_rows("service", pairs)
        for to, state, count in ((closed, "refused", "refused"), (silent, "loss", "lost"),
                                 (unreachable, "unreachable", "unreachable")):
            row = rows[a, to]
            self.assertGreater(row["sent"], 0)
            self.assertEqual((row["state"], row[count]), (state, row["sent"]), row)


if __name__ == "__main__":
    unittest.main()
