"""tshark shows pingloom's packets with packaging/wireshark/pingloom.lua. The captures are written here, from the bytes in docs/."""

import pathlib
import struct
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging/wireshark/pingloom.lua"
REPORTS, PROBES = 20716, 20710
RAW_IP = 101  # a capture's link type

# The example of docs/report-format.md.
DATAGRAM = bytes.fromhex("""
    50540104 00020048 01020304 a1b2c3d4 00000007 00000002 1122334455667788
    01050102 05000003 0a000001 07000000 aabbcc00
    03050003 04000008 0a000001 0000000000000005""")
# The example of docs/probe-packets.md.
PING = bytes.fromhex("504c0101 00020040 01020304 a1b2c3d4 1122334455667788 7bcdef0100000000") + bytes(32)
PONG = bytes.fromhex("504c0102 00020028 01020305 a1b2c3d4 1122334455667788 01020304 00005208 01020303 c0000000")


def packet(payload, source, destination):
    """An IPv4 packet from 10.0.0.1 to 10.0.0.2 with a UDP datagram."""
    udp = struct.pack("!HHHH", source, destination, 8 + len(payload), 0) + payload
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])) + udp


class Dissector(unittest.TestCase):
    def tshark(self, capture, *output):
        done = subprocess.run(["tshark", "-X", f"lua_script:{SCRIPT}", "-r", capture, *output], capture_output=True, text=True, check=True)
        self.assertNotIn("rror", done.stderr, "the script has a mistake")
        return done.stdout

    def shown(self, payloads, source=40000, destination=REPORTS):
        """The fields of each packet by name, each with all its values, and its line of information."""
        with tempfile.NamedTemporaryFile(suffix=".pcap") as capture:
            capture.write(struct.pack("!IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, RAW_IP))
            for payload in payloads:
                whole = packet(payload, source, destination)
                capture.write(struct.pack("!IIII", 0, 0, len(whole), len(whole)) + whole)
            capture.flush()
            packets = ElementTree.fromstring(self.tshark(capture.name, "-T", "pdml")).findall("packet")
            infos = self.tshark(capture.name, "-T", "fields", "-e", "_ws.col.Info").splitlines()
        self.assertEqual((len(packets), len(infos)), (len(payloads), len(payloads)))
        return [(self.fields_of(one), info) for one, info in zip(packets, infos)]

    @staticmethod
    def fields_of(shown):
        fields = {}
        for field in shown.iter("field"):
            protocol, _, name = field.get("name").partition(".")
            if protocol in ("pingloom_report", "pingloom_probe"):
                fields.setdefault(name, []).append(field.get("show"))
        return fields

    def one(self, payload, source=40000, destination=REPORTS):
        return self.shown([payload], source, destination)[0]

    def test_a_datagram_of_reports(self):
        fields, info = self.one(DATAGRAM)
        self.assertEqual(info, f"Reporter {0x01020304}, sequence 7: 2 reports")
        for name, values in {"reports": ["2"], "length": ["72"], "skipped": ["2"], "keeps": ["1"], "sealed": ["0"],
                             "operation": ["1", "3"], "table": [str(0x0102), "3"], "key": ["0a:00:00:01:07", "0a:00:00:01"],
                             "value": ["aa:bb:cc", "00:00:00:00:00:00:00:05"], "amount": ["5"]}.items():
            self.assertEqual(fields.get(name), values, name)
        self.assertNotIn("malformed", fields)

    def test_a_sealed_datagram(self):
        sealed = bytearray(DATAGRAM + bytes(range(8)))
        sealed[3] |= 2
        sealed[7] += 8
        fields, _ = self.one(bytes(sealed))
        self.assertEqual(fields["seal"], ["00:01:02:03:04:05:06:07"])
        self.assertEqual(fields["operation"], ["1", "3"])

    def test_replies(self):
        nack = bytes.fromhex("50540102 02000000 00000001 a1b2c3d4 00000400 00000009 00000005 00000001 00000008 00000003")
        for sealed in (b"", bytes(8)):
            fields, info = self.one(nack + sealed, REPORTS, 40000)
            self.assertEqual(info, "NACK for reporter 1 until 1024")
            self.assertEqual(fields["reply.first"], ["5", "8"])
            self.assertEqual(fields["reply.count"], ["1", "3"])
            self.assertEqual("seal" in fields, bool(sealed))
        credit = bytes.fromhex("50540101 00000000 00000001 a1b2c3d4 00000400 00000009")
        self.assertEqual(self.one(credit, REPORTS, 40000)[1], "credit for reporter 1 until 1024")

    def test_probes(self):
        fields, info = self.one(PING, PROBES, PROBES)
        self.assertEqual(info, f"PING id {0x01020304}")
        self.assertEqual(fields["clock"], ["2"])
        self.assertEqual(fields["q_key"], ["0x7bcdef01"])
        self.assertNotIn("window", fields)
        counted = bytearray(PING)
        counted[4] |= 4
        counted[32:40] = struct.pack("!II", 0x9bbbe46b, 77)
        fields, _ = self.one(bytes(counted), PROBES, PROBES)
        self.assertEqual((fields["probe"], fields["window"]), (["0x9bbbe46b"], ["77"]))
        ack = bytearray(PING[:32])
        ack[3], ack[4], ack[7] = 3, 2, 32
        ack[24:32] = struct.pack("!Q", 12345)
        fields, info = self.one(bytes(ack), PROBES, PROBES)
        self.assertEqual(info, f"ACK id {0x01020304}")
        self.assertEqual((fields["responder"], fields["no_t3"]), (["12345"], ["1"]))
        pong = bytearray(PING[:24])
        pong[3], pong[7] = 2, 24
        self.assertEqual(self.one(bytes(pong), PROBES, PROBES)[1], f"PONG id {0x01020304}")

    def test_a_pong_that_tells_of_earlier_exchanges(self):
        fields, _ = self.one(PONG, PROBES, PROBES)
        self.assertEqual(fields["earlier"], [str(0x01020304), str(0x01020303)])
        self.assertEqual(fields["earlier.responder"], ["21000", "0"])
        self.assertEqual(fields["earlier.unknown"], ["0", "1"])
        self.assertEqual(fields["earlier.stalled"], ["0", "1"])
        for length in range(24, len(PONG)):
            self.assertNotIn("Lua Error", self.one(PONG[:length], PROBES, PROBES)[1], length)

    def test_damaged_packets_end_no_dissection(self):
        cut = [DATAGRAM[:length] for length in range(len(DATAGRAM))]
        for length, (fields, info) in enumerate(self.shown(cut)):
            self.assertEqual("malformed" in fields, length >= 32, length)
            self.assertNotIn("Lua Error", info, length)
        damaged = []
        for at in range(4, len(DATAGRAM)):
            bytes_of = bytearray(DATAGRAM)
            bytes_of[at] = 255
            damaged.append(bytes(bytes_of))
        for at, (_, info) in enumerate(self.shown(damaged), 4):
            self.assertNotIn("Lua Error", info, at)


if __name__ == "__main__":
    unittest.main()
