"""The soft device and kernel Soft-RoCE understand each other: our own pings both ways on IPv4 and
IPv6, and a real ibv_ud_pingpong."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from lab_mesh import GUEST, command, eventually, say
from processes import Process, binary

RXE, SOFT = 1, 50
IN_SOFT = ["ip", "netns", "exec", f"soft{SOFT}"]
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


class Interoperation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command(str(GUEST / "soft_host.sh"), str(SOFT))

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-it-"))

    def start(self, name, *arguments):
        path = self.directory / f"{name}.log"
        path.unlink(missing_ok=True)
        process = Process(name, arguments, path)
        self.addCleanup(process.discard)
        return process

    def says(self, process, text):
        def said():
            if not process.running():
                raise AssertionError(f"{process.name} ended:\n{process.tail()}")
            return text in process.log()

        eventually(said, 60, lambda: f"{process.name} says '{text}':\n{process.tail()}")

    # ---- pings ----

    def ping(self, on, source, target, count):
        """The summary of `count` pings; the first ones may be skipped, while the way there is looked up."""
        device = "soft" if on else "auto"
        words = [*on, binary("pingloom"), "ping", "rdma", target, "--source", source, "-d", device,
                 "-c", str(count), "-i", "100ms", "--timeout", "5s", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (0, 1), f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])["summary"]

    def all_answered(self, on, source, target):
        """Where the machine is busy, the whole guest may stand still for seconds: that is no loss."""
        for _ in range(3):
            summary = self.ping(on, source, target, 30)
            if summary["sent"] >= 15 and summary["received"] == summary["sent"]:
                break
        return summary

    def both_ways(self, rxe, soft, on_soft, what):
        for name, listener, asker in (("rxe", [], on_soft), ("soft", on_soft, [])):
            at, asking = (rxe, soft) if name == "rxe" else (soft, rxe)
            process = self.start(f"listen-{name}", *listener, binary("pingloom"), "ping", "rdma",
                                 "--listen", "--source", at, "-d", "soft" if listener else "auto")
            self.says(process, "answering")
            summary = self.all_answered(asker, asking, at)
            process.discard()
            say(f"  {what}, {'soft -> rxe' if asker else 'rxe -> soft'}: {summary['received']} of "
                f"{summary['sent']} answered")
            self.assertGreaterEqual(summary["sent"], 15, summary)
            self.assertEqual(summary["received"], summary["sent"], summary)
            self.assertGreater(summary["network_ns"]["min"], 0)

    def test_pings(self):
        say("soft device and rxe ping each other")
        self.both_ways(f"10.0.0.{RXE}", f"10.0.0.{SOFT}", IN_SOFT, "IPv4")
        self.both_ways(f"fd00::{RXE}", f"fd00::{SOFT}", IN_SOFT, "IPv6")
        # Without CAP_NET_RAW the iCRC of IPv4 packets is checked by its residue.
        self.both_ways(f"10.0.0.{RXE}", f"10.0.0.{SOFT}", [*IN_SOFT, *NOBODY],
                       "IPv4, soft unprivileged")

    # ---- ibv_ud_pingpong ----

    ROUNDS, BYTES = 200, 999

    def pingpong(self, port, gid_index, *server):
        return ["ibv_ud_pingpong", "-d", f"rxe{RXE}", "-g", str(gid_index), "-p", str(port), "-n",
                str(self.ROUNDS), "-s", str(self.BYTES), "-e", "-c", *server]

    def peer(self, address, port, *server):
        return [*IN_SOFT, binary("ud_pingpong_peer"), address, str(port), str(self.ROUNDS),
                str(self.BYTES), *server]

    def together(self, port, server, client):
        """Server first; both have to end well."""
        serving = self.start(f"server-{port}", *server)
        listens = ["ss", "-Hltn", f"sport = :{port}"]
        inside = IN_SOFT if server[0] == "ip" else []
        eventually(lambda: serving.running() and command(*inside, *listens), 30,
                   lambda: f"{server} listens:\n{serving.tail()}")
        asking = self.start(f"client-{port}", *client)
        for process in (asking, serving):
            try:
                code = process.process.wait(90)
            except subprocess.TimeoutExpired:
                code = None
            self.assertEqual(code, 0, f"{process.name}:\n{asking.tail()}\n{serving.tail()}")
            self.assertNotIn("invalid", process.log())

    def test_ud_pingpong(self):
        say(f"a real ibv_ud_pingpong on rxe, {self.ROUNDS} rounds of {self.BYTES} bytes")
        port = 18515
        for family, gid_index, own in (("IPv4", 1, f"10.0.0.{SOFT}"), ("IPv6", 2, f"fd00::{SOFT}")):
            self.together(port, self.pingpong(port, gid_index),
                          self.peer(own, port, f"10.0.0.{RXE}"))
            say(f"  {family}: it answered the soft device")
            self.together(port + 1, self.peer(own, port + 1),
                          self.pingpong(port + 1, gid_index, f"10.0.0.{SOFT}"))
            say(f"  {family}: the soft device answered it")
            port += 2


if __name__ == "__main__":
    unittest.main()
