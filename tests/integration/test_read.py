"""pingloom read between two soft devices: what an operator who asks whether RDMA reads work relies on."""

import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from mesh import private_subnet
from processes import Process, binary, eventually

REQUEST = bytes.fromhex("504c5244 01010010") + bytes(120)  # of no region, from nowhere


def request_from(address, psn=1000):
    """A request for the region "test" by an RC endpoint at this address."""
    gid = bytes(10) + b"\xff\xff" + socket.inet_aton(address)
    return (REQUEST[:12] + struct.pack(">I16sII", 0x77, gid, psn, 1024) + bytes(32)
            + b"test".ljust(56, b"\0"))


class Read(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-read-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        subnet = private_subnet()
        self.here, self.there = subnet + ".1", subnet + ".2"
        self.server = None

    def serve(self, *options):
        log = self.directory / f"server-{len(list(self.directory.iterdir()))}.log"
        self.server = Process("server", [binary("pingloom"), "read", "--serve", "--source", self.there, "-d", "soft",
                                         "--port", "0", *options], log)
        self.addCleanup(self.server.discard)
        first = eventually(lambda: self.server.log().splitlines()[:1], 10, lambda: "it serves: " + self.server.log())
        self.port = int(first[0].split(self.there + ":")[1].split()[0])

    def command(self, *options, region="test"):
        return [binary("pingloom"), "read", f"{self.there}:{region}", "--source", self.here, "-d", "soft",
                "--port", str(self.port), *options]

    def read(self, *options, region="test", timeout=60):
        return subprocess.run(self.command(*options, region=region), capture_output=True, text=True, timeout=timeout)

    def read_json(self, *options):
        run = self.read("--json", *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads(run.stdout)

    def test_reads_are_timed_counted_and_right(self):
        self.serve()
        for size in (0, 1, 4000, 65536, 1 << 20):
            result = self.read_json("--bytes", str(size), "--count", "50", "--depth", "4")
            alone, together = result["phases"]
            self.assertEqual((alone["depth"], together["depth"]), (1, 4))
            self.assertEqual((alone["done"], together["done"]), (50, 50))
            self.assertEqual((result["wrong"], result["checked"]), (0, 54 if size else 0))
            latency = alone["latency_ns"]
            self.assertTrue(0 < latency["min"] <= latency["p50"] <= latency["p99"] <= latency["max"], latency)
            self.assertAlmostEqual(together["bytes_per_second"], size * together["reads_per_second"],
                                   delta=1 + size * 0.01)
            self.assertEqual((result["server_device"], result["device"], result["ok"]), ("soft", "soft", True))

    def test_people_are_told_what_was_read(self):
        self.serve("--region", "page", "--bytes", "5000")
        run = self.read("--bytes", "4096", "--count", "20", "--depth", "1", region="page")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("20 READs of 4 KiB, 1 at a time: latency min ", run.stdout)
        self.assertIn("contents: right in all 20 READs that were checked", run.stdout)
        self.assertNotIn("MB/s", run.stdout)

    def test_what_cannot_be_asked_for_is_said(self):
        self.serve()
        port = self.port
        for options, region, self.port, word in (
                (("--bytes", "2000000"), "test", port, "the region has 1048576 bytes"),
                ((), "other", port, "it has no region 'other'; it serves: test"),
                ((), "test", 1, "nothing listens there")):
            run = self.read(*options, region=region)
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn(word, run.stderr)

    def test_a_server_that_goes_is_noticed_at_once(self):
        self.serve()
        reader = subprocess.Popen(self.command("--count", "100000000", "--json"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(reader.kill)
        eventually(lambda: "reads 'test'" in self.server.log(), 10, "it reads")
        time.sleep(0.2)
        self.server.kill()
        began = time.monotonic()
        out, _ = reader.communicate(timeout=20)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(reader.returncode, 1, out)
        phase = json.loads(out)["phases"][0]
        self.assertIn("the server has gone", phase["error"])
        self.assertGreater(phase["done"], 0)

    def test_ctrl_c_shows_what_there_is_and_frees_the_server(self):
        self.serve()
        reader = subprocess.Popen(self.command("--count", "100000000", "--json"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(reader.kill)
        eventually(lambda: "reads 'test'" in self.server.log(), 10, "it reads")
        time.sleep(0.2)
        reader.send_signal(signal.SIGINT)
        out, _ = reader.communicate(timeout=10)
        self.assertEqual(reader.returncode, 0, out)
        phase = json.loads(out)["phases"][0]
        self.assertTrue(phase["stopped"])
        self.assertGreater(phase["done"], 0)
        eventually(lambda: "has gone" in self.server.log(), 10, "the server knows")
        self.assertEqual(self.server.stop(), 0)
        self.assertIn("served 1 readers, refused 0", self.server.log())

    def test_two_read_at_a_time_and_a_stopped_server_is_waited_for(self):
        self.serve()
        other = self.here
        self.here = other.rsplit(".", 1)[0] + ".3"
        first = subprocess.Popen(self.command("--count", "3000", "--json"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(first.kill)
        self.here = other
        second = subprocess.Popen(self.command("--count", "3000", "--json"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(second.kill)
        eventually(lambda: self.server.log().count("reads 'test'") == 2, 10, "both read")
        self.server.signal(signal.SIGSTOP)
        time.sleep(1)
        self.server.signal(signal.SIGCONT)
        for reader in (first, second):
            out, _ = reader.communicate(timeout=60)
            self.assertEqual(reader.returncode, 0, out)
            self.assertEqual(json.loads(out)["wrong"], 0)

    def test_strangers_do_not_keep_honest_readers_out(self):
        self.serve()
        sockets = []

        def connect(data=b""):
            one = socket.create_connection((self.there, self.port), timeout=5)
            self.addCleanup(one.close)
            one.sendall(data)
            sockets.append(one)

        for data in (b"", REQUEST, REQUEST[:100], b"GET / HTTP/1.1\r\n\r\n" * 20, os.urandom(128),
                     REQUEST[:4] + b"\x09" + REQUEST[5:], REQUEST[:5] + b"\x02" + REQUEST[6:]):
            connect(data)
        for _ in range(100):  # more than may wait
            connect()
        time.sleep(2.5)  # as long as anybody may wait
        self.assertTrue(self.server.running())
        self.assertEqual(self.read_json("--count", "10")["wrong"], 0)
        descriptors = pathlib.Path(f"/proc/{self.server.pid}/fd")
        eventually(lambda: len(list(descriptors.iterdir())) < 30, 10, "nothing is left of them")

    def test_nobody_directs_responses_to_somebody_else(self):
        self.serve()
        victim = self.there.rsplit(".", 1)[0] + ".3"
        with socket.create_connection((self.there, self.port), timeout=5, source_address=(self.here, 0)) as one:
            one.sendall(request_from(victim))
            answer = one.recv(128, socket.MSG_WAITALL)
        self.assertEqual((answer[5], answer[6]), (2, 3), answer)
        self.assertIn(f"its RDMA endpoint is at {victim}", answer[72:].decode())
        with socket.create_connection((self.there, self.port), timeout=5, source_address=(self.here, 0)) as one:
            one.sendall(request_from(self.here))
            self.assertEqual(one.recv(128, socket.MSG_WAITALL)[6], 0, "its own address is taken")

    def test_many_readers_leave_nothing_behind(self):
        self.serve()
        self.read_json("--count", "1")
        descriptors = pathlib.Path(f"/proc/{self.server.pid}/fd")
        eventually(lambda: "has gone" in self.server.log(), 10, "it knows")
        before = len(list(descriptors.iterdir()))
        for _ in range(20):
            self.read_json("--count", "1")
        eventually(lambda: self.server.log().count("has gone") == 21, 10, "all have gone")
        self.assertEqual(len(list(descriptors.iterdir())), before)


if __name__ == "__main__":
    unittest.main()
