"""Rubbish on every port: the processes live, the mesh stays right, and the counters say why."""

import random
import socket
import struct
import time
import unittest

import probe_packet
from mesh import Mesh
from processes import eventually
from zmtp import Dealer

IP_AND_UDP = 28  # bytes of headers around each packet


class Hostile(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(20261121)
        self.mesh = Mesh(self, hosts=2, protocols=("udp", "tcp"), interval="100ms", window="1s").start()
        self.mesh.wait_for_rows("udp", state="ok")
        self.mesh.wait_for_rows("tcp", state="ok")
        self.started = self.mesh.status()["started"]

    def noise(self, size):
        return self.random.randbytes(size)

    def still_right(self):
        self.mesh.assert_all_alive()
        newest = max(row["start"] for row in self.mesh.rows("udp").values())
        for probe in ("udp", "tcp"):
            eventually(lambda: all(row["start"] > newest and row["state"] == "ok"
                                   for row in self.mesh.rows(probe).values()), 20,
                       f"{probe}: ok rows of a later window")

    def dropped(self, reason, index=0):
        name = f'pingloom_agent_packets_dropped_total{{protocol="udp",reason="{reason}"}}'
        return self.mesh.agent_metrics(index)[name]

    def test_udp_port(self):
        target = (self.mesh.addresses[0], self.mesh.port)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.bind((f"{self.mesh.subnet}.200", 0))
            out.settimeout(2)
            for reason, packet in (
                    ("short", b""), ("short", b"PL"), ("short", self.noise(23)),
                    ("magic", probe_packet.ping(magic=0x1234)),
                    ("version", probe_packet.ping(version=9)),
                    ("type", probe_packet.ping(kind=7)),
                    ("length", probe_packet.ping(length=64, said_length=9000)),
                    ("length", probe_packet.ping(length=40)),
                    ("unknown_id", probe_packet.ping(kind=probe_packet.PONG, length=24,
                                                     identity=0xDEADBEEF))):
                before = self.dropped(reason)
                out.sendto(packet, target)
                eventually(lambda: self.dropped(reason) > before, 15,
                           f"dropped as {reason}: {packet[:8]!r}")
            for size in (0, 1, 24, 56, 1500, 9000, 60000):
                for _ in range(20):
                    out.sendto(self.noise(size), target)
            # A PING from a stranger is answered, but never with more bytes than it had as a packet.
            for length, kinds in ((84, [probe_packet.PONG, probe_packet.ACK]), (83, [probe_packet.PONG]),
                                  (56, [probe_packet.PONG])):
                out.sendto(probe_packet.ping(length=length), target)
                answers = [out.recv(9000) for _ in kinds]
                self.assertEqual([probe_packet.kind_of(a) for a in answers], kinds)
                self.assertLessEqual(sum(len(a) + IP_AND_UDP for a in answers), length + IP_AND_UDP)
            # A flood from one is limited; the mesh does not notice.
            before = self.dropped("rate_limited")
            for _ in range(20000):
                out.sendto(probe_packet.ping(), target)
            eventually(lambda: self.dropped("rate_limited") > before, 15, "the stranger is limited")
        self.still_right()

    def test_a_flood_in_the_name_of_a_planned_source(self):
        answered = "pingloom_agent_pings_answered_total{protocol=\"udp\"}"
        seconds, planned = 3, 10  # pings a second that its plan lets it send
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.bind((self.mesh.addresses[1], 0))
            target = (self.mesh.addresses[0], self.mesh.port)
            began, before = time.monotonic(), self.mesh.agent_metrics(0)[answered]
            while time.monotonic() - began < seconds:
                for _ in range(200):
                    out.sendto(probe_packet.ping(length=132), target)
            took = time.monotonic() - began
            eventually(lambda: self.dropped("rate_limited") > 0, 15, "it is limited")
            more = self.mesh.agent_metrics(0)[answered] - before
        # 200 at once, then twice what is planned and 50 a second, while it lasts and until it is looked at.
        self.assertLess(more, 200 + (took + 5) * (2 * planned + 50))
        self.still_right()

    def test_tcp_port(self):
        held = []
        self.addCleanup(lambda: [connection.close() for connection in held])
        for _ in range(100):
            connection = socket.create_connection((self.mesh.addresses[0], self.mesh.port), 5)
            held.append(connection)
            try:
                connection.sendall(self.noise(5000))
            except OSError:
                pass
        self.still_right()

    def control(self):
        dealer = Dealer(f"{self.mesh.subnet}.254", self.mesh.control_port)
        self.addCleanup(dealer.close)
        return dealer

    def refused(self):
        return self.mesh.status()["control"]["messages_refused"]

    def test_control_port_messages(self):
        dealer = self.control()
        for frames in ((b"",), (b"\x00",), (self.noise(30),), (self.noise(300), self.noise(300)),
                       (b"\x0a\xff\xff\xff\xff\x0f",), (b"\x0a\x00",), (b"\x12\x00",),
                       (b"\x1a\x00",), (self.noise(70000),)):
            before = self.refused()
            dealer.send(*frames)
            eventually(lambda: self.refused() > before, 15, f"refused: {frames[0][:12]!r}")
        for _ in range(500):
            dealer.send(self.noise(self.random.randrange(200)))
        self.still_right()
        self.assertEqual(self.mesh.status()["agents"]["known"], 2, "no agent came of it")

    def test_control_port_pings(self):
        # libzmq 4.3.4 aborts when a PING waits behind messages it has no room for and the
        # connection ends. With 32 to 64 messages, it had room for some of them.
        before = self.mesh.status()["control"]
        for attempt in range(1000):
            dealer = Dealer(f"{self.mesh.subnet}.254", self.mesh.control_port)
            for _ in range(33 + attempt % 31):
                dealer.send(b"x")
            dealer.send_command(b"PING", b"\0\0")
            dealer.reset()
        self.still_right()
        status = self.mesh.status()
        self.assertEqual(status["agents"]["alive"], 2)
        self.assertEqual(status["control"]["batches_duplicate"], before["batches_duplicate"],
                         "no batch had to be sent again")
        self.assertEqual(status["started"], self.started, "the controller was not restarted")

    def test_control_port_bytes(self):
        port = (f"{self.mesh.subnet}.254", self.mesh.control_port)
        for start in (b"", b"\xff" + bytes(8) + b"\x7f", b"GET / HTTP/1.1\r\n\r\n"):
            with socket.create_connection(port, 5) as connection:
                try:
                    connection.sendall(start + self.noise(100000))
                except OSError:
                    pass
        # A message larger than any agent sends: the connection goes, not the controller's memory.
        dealer = self.control()
        try:
            dealer.socket.sendall(b"\x02" + struct.pack("!Q", 1 << 40) + bytes(1 << 20))
            dealer.socket.settimeout(5)
            self.assertEqual(dealer.socket.recv(1), b"", "an oversized message ends the connection")
        except ConnectionError:
            pass
        self.still_right()

    def test_http_port(self):
        def bad():
            return self.mesh.controller_metrics()["pingloom_controller_http_bad_requests_total"]

        port = (f"{self.mesh.subnet}.254", self.mesh.http_port)
        for request in (self.noise(2000) + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                        b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n",
                        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n"):
            before = bad()
            with socket.create_connection(port, 5) as connection:
                try:
                    connection.sendall(request)
                    answer = connection.recv(65536)
                except OSError:
                    answer = b""
            self.assertNotIn(b" 200 ", answer[:20], request[:60])
            self.assertNotIn(b"root:", answer)
            eventually(lambda: bad() > before, 15, f"counted: {request[:60]!r}")
        answer = self.mesh.get("/api/v1/grid?probe=%3Cscript%3E&metric=loss")
        self.assertEqual(answer.status, 404)
        idle = [socket.create_connection(port, 5) for _ in range(200)]
        self.addCleanup(lambda: [connection.close() for connection in idle])
        self.assertEqual(self.mesh.get("/healthz").status, 200)
        self.still_right()


if __name__ == "__main__":
    unittest.main()
