"""RC endpoints on a soft device and on kernel Soft-RoCE: READ, WRITE, FETCH_ADD and COMPARE_SWAP both
ways, in every weather; refusals; peers that die; and perftest as the other side."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from lab_mesh import GUEST, Fault, command, eventually, say
from processes import Process, binary

RXE, SOFT, FORGER = 1, 50, 51
NETWORK = f"soft{SOFT}"
IN_SOFT = ["ip", "netns", "exec", NETWORK]
FAMILIES = {"IPv4": (f"10.0.0.{RXE}", f"10.0.0.{SOFT}"), "IPv6": (f"fd00::{RXE}", f"fd00::{SOFT}")}
SIZES = (0, 1, 13, 4000, 64 << 10, 1 << 20)
OTHER_RXE = {"IPv4": f"10.0.0.{RXE + 1}", "IPv6": f"fd00::{RXE + 1}"}
FORGERS = {"IPv4": f"10.0.0.{FORGER}", "IPv6": f"fd00::{FORGER}"}
LINK_MTU = 4500  # room for a path MTU of 4,096 and the headers

# What netem does to the packets of both hosts. Where one is missing, an asking rxe waits half a second
# before it asks again, and the verbs endpoint gives up after six: the longest transfer has large packets,
# and where every tenth is missing, no transfer has so many that twelve of its waits are likely.
WEATHER = ("loss 1%", "loss 10%", "duplicate 20%", "delay 2ms reorder 2%", "corrupt 1%")
WEATHER_SIZES = {1024: (0, 1, 13, 4000, 16 << 10, 64 << 10), 4096: SIZES}
MAX_LOSSY_PACKETS = 16


class Rc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command(str(GUEST / "soft_host.sh"), str(SOFT))
        command(str(GUEST / "soft_host.sh"), str(FORGER))
        for interface in (f"p{RXE}", f"h{RXE}", f"q{SOFT}", "br0"):
            command("ip", "link", "set", interface, "mtu", str(LINK_MTU))
        command("ip", "-n", NETWORK, "link", "set", f"s{SOFT}", "mtu", str(LINK_MTU))

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-it-"))

    def lab(self, family, *arguments, other=None):
        """On rxe and the soft device, or on rxe and rxe."""
        rxe, soft = FAMILIES[family]
        words = [binary("rc_lab"), rxe, other or soft, "" if other else NETWORK, *map(str, arguments)]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=400, stdin=subprocess.DEVNULL)
        for line in done.stdout.splitlines():
            say(f"  {family}: {line.strip()}")
        self.assertEqual(done.returncode, 0, words)

    # ---- transfers ----

    def test_1_transfers(self):
        say(f"both ways, {SIZES} bytes")
        for family in FAMILIES:
            for mtu in (256, 1024, 4096):
                self.lab(family, "transfers", mtu, *SIZES)
        say("between two rxe devices")
        for family in FAMILIES:
            self.lab(family, "transfers", 1024, *SIZES, other=OTHER_RXE[family])

    def test_2_weather(self):
        for number, weather in enumerate(WEATHER):
            say(f"netem on both hosts: {weather}")
            for family, mtu in zip(FAMILIES, (1024, 4096) if number % 2 else (4096, 1024)):
                sizes = [size for size in WEATHER_SIZES[mtu] if weather != "loss 10%" or size <= MAX_LOSSY_PACKETS * mtu]
                with Fault(f"tc qdisc add dev h{RXE} root netem {weather}", f"tc qdisc del dev h{RXE} root"), \
                     Fault(f"tc -n {NETWORK} qdisc add dev s{SOFT} root netem {weather}",
                           f"tc -n {NETWORK} qdisc del dev s{SOFT} root"):
                    self.lab(family, "transfers", mtu, *sizes)
                    drops = re.findall(r"dropped (\d+)", command("tc", "-s", "qdisc", "show", "dev", f"h{RXE}"))
                if weather.startswith("loss"):
                    self.assertGreater(int(drops[0]), 0, "netem has lost nothing")

    # ---- what goes wrong, and how it ends ----

    def test_3_refusals(self):
        for family in FAMILIES:
            say(f"refusals over {family}")
            self.lab(family, "refusals")

    def test_4_forged(self):
        for family in FAMILIES:
            say(f"forged requests and answers over {family}")
            self.lab(family, "forged", FORGERS[family], f"soft{FORGER}")

    def test_5_endings(self):
        say("a peer is killed in the middle of READs")
        for family in FAMILIES:
            self.lab(family, "killed")
        say("1,000 connections, one after the other")
        self.lab("IPv4", "connects", 1000, f"rxe{RXE}")

    # ---- perftest ----

    ROUNDS = 200

    def perftest(self, program, family, size, *options):
        """A real perftest client on rxe against a soft endpoint."""
        port = 18600 + self.port_offset
        self.port_offset += 1
        log = self.directory / f"perftest-{port}.log"
        writes = self.ROUNDS if program == "ib_write_lat" else 0
        peer = Process("perftest_peer", [*IN_SOFT, binary("perftest_peer"), FAMILIES[family][1],
                                         str(port), "1024", str(size), str(writes)], log)
        self.addCleanup(peer.discard)
        eventually(lambda: peer.running() and command(*IN_SOFT, "ss", "-Hltn", f"sport = :{port}"), 30,
                   lambda: f"perftest_peer listens:\n{peer.tail()}")
        gid_index = "1" if family == "IPv4" else "2"
        words = [program, "-d", f"rxe{RXE}", "-x", gid_index, "-m", "1024", "-n", str(self.ROUNDS), "-p",
                 str(port), "-F", *options, f"10.0.0.{SOFT}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        text = f"{' '.join(words)}\n{done.stdout}{done.stderr}\n{peer.tail()}"
        self.assertEqual(done.returncode, 0, text)
        found = re.search(rf"^\s*{size}\s+{self.ROUNDS}\s+(.*)$", done.stdout, re.MULTILINE)
        self.assertIsNotNone(found, text)
        self.assertEqual(peer.process.wait(30), 0, text)
        say(f"  {family}: {program} {' '.join(options)}: typical {found[1].split()[2]} us; {peer.tail(1)}")

    def test_6_perftest(self):
        say(f"perftest on rxe against a soft endpoint, {self.ROUNDS} rounds")
        self.port_offset = 0
        for family in FAMILIES:
            self.perftest("ib_read_lat", family, 4000, "-s", "4000")
            self.perftest("ib_write_lat", family, 4000, "-s", "4000")
            self.perftest("ib_atomic_lat", family, 8)


if __name__ == "__main__":
    unittest.main()
