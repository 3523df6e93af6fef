"""Garbage, oversized and forged datagrams to UDP port 4791 of a soft device and of kernel Soft-RoCE:
the agents live, say what they dropped and why, and the mesh recovers."""

import datetime
import random
import re
import unittest

import roce
from lab_mesh import LabMesh, Rows, eventually, say
import probe_packet  # lab_mesh has said where it lies

RXE = (1, 2)
SOFT = 50
STRANGER = "10.0.0.77"  # nobody's address
PRIVILEGED = 0x80000000


def big_endian(value):
    return value.to_bytes(4, "big")


class Hostile(unittest.TestCase):
    def test_forged(self):
        self.random = random.Random(4791)
        self.mesh = LabMesh(self, rxe=len(RXE), soft=(SOFT,))
        self.mesh.write_pinglist("""version: 1
defaults: { interval: 200ms, timeout: 1s, window: 1s }
probes:
  - { name: rdma, protocol: rdma, mesh: ["10.0.0.[1-2]", 10.0.0.50] }
""")
        self.mesh.start()
        self.mesh.wait_for_rows("rdma", seconds=60)
        self.all_ok()
        self.queue_pairs = {number: self.mesh.endpoint(number) for number in (SOFT, 1)}
        # Host 2 sends it all: through the bridge, for its address has routes of its own.
        self.attacker = roce.Sender(self.mesh.address(2))
        self.addCleanup(self.attacker.close)
        self.roce_headers()
        self.probe_messages(SOFT)
        self.probe_messages(1)
        self.forged_sources()
        self.noise()
        self.oversized()
        self.mesh.assert_all_alive()

    def all_ok(self):
        """Every pair is ok in some window that begins from now on."""
        Rows(self.mesh, "rdma").gather_until(
            lambda rows: all(any(row["state"] == "ok" for row in rows.of(pair))
                             for pair in self.mesh.pairs()), "every pair is ok")

    def dropped(self, number, reason, by="packets"):
        name = f'pingloom_agent_{by}_dropped_total{{protocol="rdma",reason="{reason}"}}'
        return self.mesh.metrics(number)[name]

    def packet(self, number, payload, **forged):
        """A UD message to this host's endpoint, as host 2 could have sent it."""
        sealing = {key: forged.pop(key) for key in ("damage", "fragmented") if key in forged}
        source = forged.pop("source", self.mesh.address(2))
        qpn = forged.pop("qpn", self.queue_pairs[number])
        q_key = forged.pop("q_key", LabMesh.Q_KEY)
        return roce.sealed(source, self.mesh.address(number),
                           roce.ud_send(qpn, q_key, payload, **forged), **sealing)

    def counted(self, number, reason, packet, by="packets"):
        before = self.dropped(number, reason, by)
        self.attacker.send(packet)
        # Figures are collected once a second.
        eventually(lambda: self.dropped(number, reason, by) > before, 20,
                   f"agent {number} counts {by} dropped as {reason}")

    # ---- the soft device's own checks; kernel Soft-RoCE's are silent ----

    def roce_headers(self):
        say("soft device: bad RoCE headers are dropped and counted by reason")
        address = self.mesh.address(SOFT)
        good = bytes(64)
        for reason, packet in (
                ("short", roce.datagram(self.mesh.address(2), address, b"")),
                ("short", roce.datagram(self.mesh.address(2), address, bytes(15))),
                ("version", self.packet(SOFT, good, version=3)),
                ("opcode", self.packet(SOFT, good, opcode=0xC7)),
                # An RC READ request: 8 bytes and the DETH's place are its RETH. With more bytes it is
                # malformed, which only an RC endpoint would refuse.
                ("opcode", self.packet(SOFT, bytes(8), opcode=0x0C)),
                ("opcode", self.packet(SOFT, good, opcode=0x0C)),
                # An RC acknowledge, whose AETH is half as long as a DETH, carries no payload.
                ("payload", self.packet(SOFT, good, opcode=0x11)),
                ("pad", self.packet(SOFT, b"", pad=3)),
                ("icrc", self.packet(SOFT, good, damage=1 << 17)),
                ("p_key", self.packet(SOFT, good, p_key=0x8123)),
                ("qpn", self.packet(SOFT, good, qpn=self.queue_pairs[SOFT] ^ 1)),
                ("q_key", self.packet(SOFT, good, q_key=LabMesh.Q_KEY ^ 1)),
                ("long", self.packet(SOFT, bytes(1300)))):
            self.counted(SOFT, reason, packet, by="endpoint_packets")
        say("  in fragments, beyond the MTU")
        self.attacker.send(*roce.fragments(self.packet(SOFT, bytes(3000), fragmented=True)))
        self.all_ok()

    # ---- messages that a device takes and the agent does not ----

    def probe_messages(self, number):
        say(f"agent {number}: bad probe messages are dropped and counted by reason")
        pong = {"kind": probe_packet.PONG, "length": 24}
        privileged = bytearray(probe_packet.ping())
        privileged[24:28] = big_endian(PRIVILEGED | 1)
        for reason, message in (("short", b""), ("short", bytes(23)),
                                ("magic", probe_packet.ping(magic=0x1234)),
                                ("version", probe_packet.ping(version=9)),
                                ("type", probe_packet.ping(kind=7)),
                                ("length", probe_packet.ping(said_length=9000)),
                                ("length", probe_packet.ping(length=40)),
                                ("unknown_id", probe_packet.ping(identity=0xDEADBEEF, **pong)),
                                ("q_key", bytes(privileged))):
            self.counted(number, reason, self.packet(number, message))
        # A wrong iCRC, Q_Key or queue pair is the device's business: the agent never sees it.
        for forged in ({"damage": 1}, {"q_key": 5}, {"qpn": 0xABCDEF}, {"p_key": 0x1111}):
            self.attacker.send(self.packet(number, probe_packet.ping(), **forged))

    # What becomes of a PING that is no one's business: answered, limited, not read in time, not
    # answerable.
    FATES = (("pings_answered", None), ("packets_dropped", "rate_limited"),
             ("endpoint_packets_dropped", "socket_overflow"),
             ("endpoint_packets_dropped", "receive_queue"), ("endpoint_packets_dropped", "unresolved"))

    def fates(self, number):
        metrics = self.mesh.metrics(number)
        found = {}
        for name, reason in self.FATES:
            labels = f',reason="{reason}"' if reason else ""
            found[reason or name] = metrics.get(f'pingloom_agent_{name}_total{{protocol="rdma"{labels}}}', 0)
        return found

    def forged_sources(self):
        """Their answers go nowhere; those of the mesh go on."""
        for number in (SOFT, 1):
            say(f"agent {number}: 3,000 PINGs from an address where nobody is")
            ping = bytearray(probe_packet.ping())
            ping[24:28] = big_endian(99)
            packet = self.packet(number, bytes(ping), source=STRANGER)
            before = self.fates(number)
            for _ in range(3000):
                self.attacker.send(packet)
            self.all_ok()
            # Figures are collected once a second.
            enough = self.answered_or_dropped if number == SOFT else self.looked_up
            eventually(lambda: enough(before, self.fates(number)), 20,
                       lambda: f"their fates: {before}, then {self.fates(number)}")
            after = self.fates(number)
            say(f"  { {fate: int(after[fate] - before[fate]) for fate in after} }")
            # Looked up once in a while, not once for each.
            self.assertLess(after["unresolved"] - before["unresolved"], 100)

    @staticmethod
    def answered_or_dropped(before, after):
        """The soft device does not ask whether anybody is there."""
        return sum(after.values()) - sum(before.values()) > 2000

    @staticmethod
    def looked_up(before, after):
        return after["unresolved"] > before["unresolved"]

    def noise(self):
        say("both: 2,000 datagrams of noise each, 0 to 1,472 bytes")
        for number in (SOFT, 1):
            for size in (0, 3, 16, 40, 256, 1024, 1472):
                for _ in range(285):
                    self.attacker.send(roce.datagram(self.mesh.address(2), self.mesh.address(number),
                                                     self.random.randbytes(size)))
            # With a right iCRC and the endpoint's keys, the noise gets as far as it can.
            for _ in range(50):
                size = self.random.randrange(0, 1025)
                self.attacker.send(self.packet(number, self.random.randbytes(size)))
        self.mesh.assert_all_alive()
        self.all_ok()

    # ---- what kills a queue pair ----

    def lost(self, number):
        return self.mesh.metrics(number)['pingloom_agent_endpoints_lost_total{protocol="rdma"}']

    def oversized(self):
        say("agent 1: a message beyond any buffer, in fragments, puts the queue pair into error")
        self.assertEqual(self.lost(1), 0)
        before = self.queue_pairs[1]
        self.attacker.send(*roce.fragments(self.packet(1, bytes(3000), fragmented=True)))
        eventually(lambda: self.lost(1) == 1, 30, "the lost endpoint is counted")
        eventually(lambda: self.mesh.endpoint(1) != before, 30, "another queue pair is registered")
        lost, made = self.times_in_log()
        say(f"  made anew after {(made - lost).total_seconds():.2f} s; queue pair {before:#x} is now "
            f"{self.mesh.endpoint(1):#x}")
        self.assertLess((made - lost).total_seconds(), 5)  # it is tried again each second, on a busy machine
        self.all_ok()
        say("  all ok")

    def times_in_log(self):
        """When the agent lost its endpoint, and when it had the next one."""
        log = self.mesh.agent(1).log()
        found = re.search(r"(\S+) warning rdma 10.0.0.1: endpoint \S+ on rxe1 is lost: (.*)\n"
                          r"(?:.*\n)*?(\S+) info rdma 10.0.0.1: endpoint on rxe1 with queue pair", log)
        self.assertIsNotNone(found, log)
        self.assertIn("completed in error", found[2])
        return (datetime.datetime.fromisoformat(found[1].rstrip("Z")),
                datetime.datetime.fromisoformat(found[3].rstrip("Z")))


if __name__ == "__main__":
    unittest.main()
