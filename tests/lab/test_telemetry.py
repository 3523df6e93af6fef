"""Direct telemetry access between kernel Soft-RoCE and the soft device: a translator on either writes the store of a
collector on either, and goes on when the collector restarts. Readers on either read that store by RDMA READ."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from lab_mesh import GUEST, command, eventually, say
from processes import Process, binary, discard_all

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOFT = 50
SOFT_READER = 51  # a soft device's address is one program's
KEYS = 400
REPORTER = """
import sys
import pingloom_report
first, last, value = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
reporter = pingloom_report.Reporter("127.0.0.1:20716")
for number in range(first, last):
    reporter.key_write(1, b"key %d" % number, b"%s %d" % (value.encode(), number))
    reporter.append(2, b"%s %d" % (value.encode(), number))
    reporter.increment(3, b"all", number)
reporter.flush()
reporter.close()
"""


def on(number):
    """What runs a program on this host: those with rxe devices share the guest's network."""
    return ["ip", "netns", "exec", f"soft{number}"] if number >= SOFT else []


class Telemetry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for number in (SOFT, SOFT_READER):
            command(str(GUEST / "soft_host.sh"), str(number))

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-dta-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        outcome = getattr(self._outcome, "result", None)
        if getattr(outcome, "failures", None) or getattr(outcome, "errors", None):
            for process in self.processes:
                print(f"--- {process.name}\n{process.tail()}")
        discard_all(self.processes)

    def start(self, name, number, config):
        path = self.directory / f"{name}.yaml"
        device = "soft" if number == SOFT else "auto"
        path.write_text(f"address: 10.0.0.{number}\ndevice: {device}\n{config}")
        process = Process(name, [*on(number), binary(f"pingloom-{name}"), "--config", str(path)],
                          self.directory / f"{name}.log")
        self.processes.append(process)
        return process

    def start_collector(self):
        return self.start("collector", self.at, f"""http: 127.0.0.1:20715
stores:
  - translator: lab
    file: {self.directory}/lab.store
    tables:
      - {{ name: latest, id: 1, kind: keyed, slots: 4000, value: 40B }}
      - {{ name: events, id: 2, kind: lists, blocks: 64, entry: 16B }}
      - {{ name: counts, id: 3, kind: counters, counters: 1000 }}
""")

    @staticmethod
    def library():
        return {"PYTHONPATH": str(ROOT / "python"),
                "PINGLOOM_REPORT_LIBRARY": str(pathlib.Path(binary("x")).parent.parent / "lib/libpingloom-report.so")}

    def report(self, first, last, value):
        subprocess.run([*on(self.source), sys.executable, "-B", "-c", REPORTER, str(first), str(last), value], check=True,
                       timeout=60, env={**os.environ, **self.library()})

    def dta(self, *words):
        """What the command said."""
        done = subprocess.run([*on(self.at), binary("pingloom"), "dta", *words], timeout=60,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr

    def read_remotely(self, reader, *words):
        """What the command on another host reads by RDMA READ."""
        done = subprocess.run([*on(reader), binary("pingloom"), "dta", *words, "--rdma", f"10.0.0.{self.at}",
                               "--source", f"10.0.0.{reader}", "--device", "soft" if reader >= SOFT else "auto"],
                              timeout=60, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr

    def expect_remotely(self, reader):
        """A reader gets the values and all entries and sums that the collector itself answers."""
        for number, value in ((0, "value"), (KEYS - 1, "later")):
            shown = self.read_remotely(reader, "get", "latest", f"text:key {number}")
            self.assertIn(f"{value} {number}".encode().hex(), shown)
        self.assertIn("is not in table latest", self.read_remotely(reader, "get", "latest", "text:nobody"))
        entries = ("tail", "events", "--all", "--no-follow")
        self.assertEqual(self.read_remotely(reader, *entries), self.dta(*entries))
        count = ("count", "counts", "text:all")
        self.assertEqual(self.read_remotely(reader, *count).split()[0], self.dta(*count).split()[0])

    def get(self, key):
        return self.dta("get", "latest", f"text:{key}")

    def expect_lists_and_counts(self):
        """Everything that run_between() reports is in the list once and in order, and in the sum."""
        numbers = [*range(KEYS), *range(KEYS // 2, KEYS)]
        eventually(lambda: self.dta("count", "counts", "text:all").split()[:1] == [str(sum(numbers))], 60,
                   lambda: f"{sum(numbers)}, not {self.dta('count', 'counts', 'text:all')}", 0.5)
        shown = self.dta("tail", "events", "--all", "--count", str(len(numbers)))
        self.assertEqual([int(line.split('"')[1].split()[1]) for line in shown.splitlines()], numbers)

    def expect(self, number, value):
        wanted = f"{value} {number}".encode().hex()
        eventually(lambda: wanted in self.get(f"key {number}"), 60,
                   lambda: f"key {number} is {self.get(f'key {number}')}, not {value}", 0.5)

    def run_between(self, source, at):
        self.source, self.at = source, at
        collector = self.start_collector()
        self.start("translator", source, f"name: lab\ncollector: 10.0.0.{at}\nhttp: 127.0.0.1:20718\n")
        self.report(0, KEYS, "value")
        for number in (0, 17, KEYS - 1):
            self.expect(number, "value")
        collector.kill()
        self.report(KEYS // 2, KEYS, "later")
        self.start_collector()
        self.expect(KEYS - 1, "later")
        for number in (0, KEYS // 2 - 1):
            self.expect(number, "value")
        self.expect_lists_and_counts()
        for reader in (1 if at == 2 else 2, SOFT_READER):
            self.expect_remotely(reader)
        say(f"a translator on host {source} and a collector on host {at}: values, entries and sums are right, "
            "and for readers by RDMA too")

    def test_both_on_soft_roce(self):
        self.run_between(1, 2)
        self.expect_queue_pairs()

    def expect_queue_pairs(self):
        """The example that reports the state of queue pairs shows the translator's own, which is connected."""
        example = Process("qp_state", [sys.executable, "-B", str(ROOT / "examples/report/qp_state.py")],
                          self.directory / "qp_state.log", environment=self.library())
        self.processes.append(example)
        pairs = json.loads(command("rdma", "-j", "resource", "show", "qp"))
        number = next(pair["lqpn"] for pair in pairs if pair["ifname"] == "rxe1" and pair.get("type") == "RC")
        key = f"{socket.gethostname().split('.')[0]}/rxe1/{number}"
        eventually(lambda: '"RC RTS sq ' in self.get(key), 60, lambda: f"{key}: {self.get(key)}; {pairs}", 0.5)

    def test_a_soft_translator_writes_to_soft_roce(self):
        self.run_between(SOFT, 1)

    def test_soft_roce_writes_to_a_soft_collector(self):
        self.run_between(1, SOFT)


if __name__ == "__main__":
    unittest.main()
