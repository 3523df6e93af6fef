"""Direct telemetry access from end to end on soft devices: the report library, a translator, and a collector's store."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.parse
import urllib.request

from mesh import ROOT, free_port, private_subnet
from processes import Process, binary, discard_all, eventually

TABLE = 1
NAME = "latest"
TRANSLATOR = "translator-1"


def report_library():
    """The report library's module for Python, with the library of this build."""
    os.environ["PINGLOOM_REPORT_LIBRARY"] = str(pathlib.Path(binary("x")).parent.parent / "lib/libpingloom-report.so")
    sys.path.insert(0, str(ROOT / "python"))
    import pingloom_report
    return pingloom_report


class PythonModule(unittest.TestCase):
    """What the module says about arguments that are not valid. No translator runs."""

    @classmethod
    def setUpClass(cls):
        cls.library = report_library()

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-python-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def test_refused_reports_name_the_argument_and_its_limit(self):
        reporter = self.library.Reporter("127.0.0.1:9")
        for report, says in (
                (lambda: reporter.key_write(TABLE, b"k" * 41, b"value"), "key has 41 bytes, which is not in 1 to 40"),
                (lambda: reporter.key_write(TABLE, b"", b"value"), "key has 0 bytes, which is not in 1 to 40"),
                (lambda: reporter.key_write(TABLE, b"key", b"v" * 256), "value has 256 bytes, which is not in 1 to 255"),
                (lambda: reporter.append(TABLE, b""), "entry has 0 bytes, which is not in 1 to 255"),
                (lambda: reporter.increment(TABLE, b"k" * 50), "key has 50 bytes, which is not in 1 to 40"),
                (lambda: reporter.postcard(TABLE, b"key", 3, 3, b"hop"), "hop is 3, which is not in 0 to 2, because hops is 3"),
                (lambda: reporter.postcard(TABLE, b"key", 3, 4, b""), "value has 0 bytes, which is not in 1 to 255")):
            with self.assertRaises(ValueError) as raised:
                report()
            self.assertEqual(str(raised.exception), says)
        self.assertEqual(reporter.status.skipped, 7, "the library has refused them")
        reporter.close()
        with self.assertRaisesRegex(ValueError, "the reporter is closed"):
            reporter.key_write(TABLE, b"key", b"value")

    def not_opened(self, says, kind=OSError, **options):
        with self.assertRaises(kind) as raised:
            self.library.Reporter(**options).close()
        self.assertIn(says, str(raised.exception))

    def test_options_that_are_not_valid_are_named(self):
        form = "which is not ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT"
        self.not_opened(f"translator is 'db-7', {form}", translator="db-7")
        self.not_opened(f"translator is '10.0.0.1:x', {form}", translator="10.0.0.1:x")
        for least, most in ((343, 344), (8901, 8900)):
            self.not_opened(f"datagram is {least}, which is not in 344 to 8900", datagram=least)
            self.library.Reporter("127.0.0.1:9", datagram=most).close()
        with unittest.mock.patch.dict(os.environ, PINGLOOM_TRANSLATOR="nowhere"):
            self.not_opened(f"$PINGLOOM_TRANSLATOR is 'nowhere', {form}")

    def test_key_files_that_cannot_be_used_are_named(self):
        path = self.directory / "7.key"
        self.not_opened(f"No such file or directory: '{path}'", FileNotFoundError, key_file=str(path))
        path.write_text("00112233445566778899aabbccddeeff\n")
        path.chmod(0o644)
        self.not_opened(f"key_file has the mode 0644, but must be closed to other users: 0600 or 0640: '{path}'",
                        PermissionError, key_file=str(path))
        path.chmod(0o640)
        self.library.Reporter(key_file=path).close()
        self.not_opened("translator is 'x'", translator="x", key_file=str(path))
        self.not_opened("key_file is not a regular file", PermissionError, key_file=str(self.directory))
        for text in ("", "00112233445566778899aabbccddee", "00112233445566778899aabbccddeefg", "0" * 33, "0" * 200):
            path.write_text(text)
            self.not_opened(f"key_file has no key, which is 32 hexadecimal digits: '{path}'", key_file=str(path))


AGAIN = 1  # a flag of a datagram


class LossyPath:
    """Passes datagrams on to a translator and replies back, but drops and doubles datagrams with certain numbers. Those
    that are sent again pass."""

    def __init__(self, to, dropped, doubled):
        self._dropped, self._doubled = dropped, doubled
        self.arrived = 0
        self._near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._near.bind(("127.0.0.1", 0))
        self._far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._far.connect(to)
        self._reporter = None
        self.name = "127.0.0.1:%d" % self._near.getsockname()[1]
        for run in (self._forth, self._back):
            threading.Thread(target=run, daemon=True).start()

    def _forth(self):
        while True:
            datagram, self._reporter = self._near.recvfrom(65536)
            times = 1
            if not datagram[3] & AGAIN:
                self.arrived += 1
                times = 0 if self._dropped(self.arrived) else 2 if self._doubled(self.arrived) else 1
            for _ in range(times):
                self._far.send(datagram)

    def _back(self):
        while True:
            self._near.sendto(self._far.recv(65536), self._reporter)


class DtaCase(unittest.TestCase):
    """A collector with a store, and a translator that writes it."""

    TABLES = f"[{{ name: {NAME}, id: {TABLE}, kind: keyed, slots: 20000, value: 24B }}]"

    @classmethod
    def setUpClass(cls):
        cls.library = report_library()

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-dta-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.subnet = private_subnet()
        self.processes = []
        self.addCleanup(self.end)
        self.control, self.collector_http = free_port(), free_port()
        self.reports, self.translator_http = free_port(), free_port()
        self.store_folder = self.directory
        self.keys = {}  # of the collector and the translator, if they encrypt
        self.rights = ""  # who may report to the translator
        self.store_rights = ""  # who may read the store by RDMA
        self.start_all()

    def make_keys(self, *names):
        for name in names:
            done = subprocess.run([binary("pingloom"), "keys", "generate", str(self.directory / f"{name}.key")],
                                  capture_output=True, text=True, check=True)
            self.keys[name] = done.stdout.strip()

    def start_all(self):
        self.start_collector()
        self.start_translator()
        self.connected()

    def end(self):
        outcome = getattr(self._outcome, "result", None)
        if getattr(outcome, "failures", None) or getattr(outcome, "errors", None):
            for process in self.processes:
                print(f"--- {process.name}\n{process.tail()}")
        discard_all(self.processes)

    def run_one(self, name, config, number=""):
        path = self.directory / f"{name}{number}.yaml"
        path.write_text(config)
        process = Process(f"{name}{number}", [binary(f"pingloom-{name}"), "--config", str(path)],
                          self.directory / f"{name}{number}.log")
        self.processes.append(process)
        return process

    def start_collector(self):
        self.collector = self.run_one("collector", f"""
address: {self.subnet}.200
device: soft
stores_port: {self.control}
http: {self.subnet}.200:{self.collector_http}
stores:
  - translator: {TRANSLATOR}
    {f"key: {self.keys['translator']}" if self.keys else ""}
    {self.store_rights}
    file: {self.store_folder}/translator.store
    tables: {self.TABLES}
{f"keys: {{ secret: {self.directory}/collector.key }}" if self.keys else ""}
""")

    def start_translator(self, key="translator"):
        self.translator = self.run_one("translator", f"""
address: {self.subnet}.100
device: soft
name: {TRANSLATOR}
collector: {self.subnet}.200:{self.control}
listen: 127.0.0.1:{self.reports}
http: {self.subnet}.100:{self.translator_http}
{self.rights}
{f"keys: {{ secret: {self.directory}/{key}.key, collector: {self.keys['collector']} }}" if self.keys else ""}
""")

    def reporter(self, to=None, **options):
        reporter = self.library.Reporter(to or f"127.0.0.1:{self.reports}", **options)
        self.addCleanup(reporter.close)
        return reporter

    # ---- what is shown ----

    def ask(self, path, **query):
        url = f"http://{self.subnet}.200:{self.collector_http}/api/v1/dta/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)

    def get(self, key):
        """The value of a key as bytes, without the zeros at its end, or None."""
        try:
            value = self.ask("get", table=NAME, key=f"text:{key}")["value"]
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    return None
                raise
        return bytes.fromhex(value).rstrip(b"\0") if value is not None else None

    def figure(self, name):
        """The sum of a metric of the translator over its labels, or the one with the labels in `name`."""
        return self.figure_at(f"{self.subnet}.100:{self.translator_http}", name)

    def collector_figure(self, name):
        return self.figure_at(f"{self.subnet}.200:{self.collector_http}", name)

    def figure_at(self, place, name):
        with urllib.request.urlopen(f"http://{place}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        found = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
        values = [float(value) for key, value in found if key == name or key.split("{")[0] == name]
        self.assertTrue(values, f"no {name}")
        return sum(values)

    def accepted(self):
        return self.figure('pingloom_translator_accepted_total{operation="key_write"}')

    def expect(self, key, value, seconds=20):
        eventually(lambda: self.get(key) == value, seconds, lambda: f"{key} is {self.get(key)}, not {value}")

    def connected(self, expected=1):
        eventually(lambda: self.figure("pingloom_translator_collector_connected") == expected, 30,
                   f"connected: {expected}")

    def settled(self, count, seconds=20):
        eventually(lambda: self.accepted() == count, seconds, lambda: f"accepted {self.accepted()}, not {count}")


class Dta(DtaCase):
    def test_the_latest_value_is_found(self):
        reporter = self.reporter()
        for number in range(5000):
            reporter.key_write(TABLE, b"key %d" % number, b"value %d" % number)
            if number % 500 == 499:
                self.settled(number + 1)
        for number in (0, 17, 4999):
            self.expect(f"key {number}", b"value %d" % number)
        self.assertIsNone(self.get("key 5000"))
        reporter.key_write(TABLE, b"key 17", b"another")
        self.expect("key 17", b"another")
        # Everything that was sent is accounted for.
        reporter.key_write(TABLE, b"key", b"v" * 25)
        reporter.key_write(TABLE + 1, b"key", b"value")
        reporter.increment(TABLE, b"key")
        reporter.flush()
        eventually(lambda: self.figure("pingloom_translator_refused_total") == 3, 10, "three reports are refused")
        for reason in ("value_length", "unknown_table", "wrong_table"):
            self.assertEqual(self.figure(f'pingloom_translator_refused_total{{reason="{reason}"}}'), 1, reason)
        self.assertEqual(self.accepted(), 5001)
        self.assertEqual(self.figure("pingloom_translator_lost_total"), 0)
        self.assertEqual(reporter.status.sent, 5004)
        eventually(lambda: self.ask("tables")["stores"][0]["writer"]["key_writes"] == 5001, 10, "the status is written")

    def test_numbers_that_do_not_fit_are_refused_in_python(self):
        reporter = self.reporter()
        for report in (lambda: reporter.key_write(65536 + TABLE, b"key", b"value"), lambda: reporter.append(-1, b"entry"),
                       lambda: reporter.append(TABLE, b"entry", list=1 << 32),
                       lambda: reporter.increment(TABLE, b"key", 1 << 48),
                       lambda: reporter.postcard(TABLE, b"key", 256, 0, b"value"), lambda: self.reporter(reporter=1 << 32)):
            with self.assertRaisesRegex(ValueError, "not in 0 to"):
                report()
        self.assertEqual(reporter.status.taken, 0)

    def lossy(self, count, forget):
        """Reports `count` values, each in a datagram, through a path that drops every 7th and doubles every 5th."""
        path = LossyPath(("127.0.0.1", self.reports), lambda n: n % 7 == 0, lambda n: n % 5 == 0)
        self.reporter().key_write(TABLE, b"first", b"value")
        self.expect("first", b"value")  # the translator serves
        reporter = self.reporter(path.name, forget=forget)
        for number in range(1, count + 1):
            reporter.key_write(TABLE, b"key %d" % number, b"value")
            reporter.flush()
            if number % 50 == 0:
                eventually(lambda: path.arrived == number, 10, "the path passes datagrams on")
        self.assertNotEqual(count % 7, 0, "the last one shows what is missing")
        return reporter, [n for n in range(1, count + 1) if n % 7 == 0]

    def test_loss_and_duplicates_are_counted(self):
        sent = 1000
        _, lost = self.lossy(sent, forget=True)
        doubled = [n for n in range(1, sent + 1) if n % 5 == 0 and n % 7 != 0]
        self.settled(1 + sent - len(lost))
        eventually(lambda: self.figure("pingloom_translator_lost_total") == len(lost), 10, "what is lost is counted")
        self.assertEqual(self.figure('pingloom_translator_refused_total{reason="duplicate"}'), len(doubled))
        self.assertEqual(self.figure("pingloom_translator_nacks_total"), 0)
        self.expect("key 1000", b"value")
        self.assertIsNone(self.get("key 700"))

    def test_what_is_lost_is_sent_again(self):
        sent = 1000
        reporter, lost = self.lossy(sent, forget=False)
        self.settled(1 + sent)
        self.assertEqual(self.figure("pingloom_translator_lost_total"), 0)
        self.assertGreaterEqual(reporter.status.repeated, len(lost))
        self.assertGreater(self.figure("pingloom_translator_nacks_total"), 0)
        self.expect("key 1000", b"value")
        self.expect("key 700", b"value")

    def test_a_translator_that_is_killed_comes_back(self):
        reporter = self.reporter()
        for number in range(1000):
            reporter.key_write(TABLE, b"old %d" % number, b"value")
        reporter.flush()
        self.settled(1000)
        self.expect("old 999", b"value")
        eventually(lambda: self.ask("tables")["stores"][0]["writer"]["key_writes"] == 1000, 10, "the status is written")
        self.translator.kill()
        for number in range(100):
            reporter.key_write(TABLE, b"gone %d" % number, b"value")
            reporter.flush()
        self.assertEqual(reporter.status.skipped, 100)
        eventually(lambda: self.ask("tables")["stores"][0]["writer"]["stale"], 10, "the store is stale")
        self.assertEqual(self.get("old 7"), b"value")
        self.start_translator()
        self.connected()
        for number in range(1000):
            reporter.key_write(TABLE, b"new %d" % number, b"value")
        reporter.key_write(TABLE, b"old 7", b"newer")
        reporter.flush()
        self.settled(1001)
        self.expect("old 7", b"newer")
        for number in (0, 500, 999):
            self.expect(f"new {number}", b"value")
            self.expect(f"old {number}", b"value")
        # What was sent was accepted by one of the two, or it was skipped.
        status = reporter.status
        self.assertEqual(status.taken, 1000 + 1001 + status.skipped)
        self.assertEqual(self.figure("pingloom_translator_skipped_total"), status.skipped)
        self.assertEqual(self.figure("pingloom_translator_lost_total"), 0)

    def test_a_collector_that_is_killed_comes_back(self):
        reporter = self.reporter()
        for number in range(1000):
            reporter.key_write(TABLE, b"before %d" % number, b"value")
        reporter.flush()
        self.expect("before 999", b"value")
        self.collector.kill()
        for number in range(1000):
            reporter.key_write(TABLE, b"meanwhile %d" % number, b"value")
        reporter.flush()
        self.settled(2000)
        self.connected(0)
        self.start_collector()
        for number in (0, 500, 999):
            self.expect(f"meanwhile {number}", b"value", 30)
            self.expect(f"before {number}", b"value")
        reporter.key_write(TABLE, b"after", b"value")
        self.expect("after", b"value")
        self.assertEqual(self.accepted(), 2001)
        self.assertEqual(self.figure("pingloom_translator_lost_total"), 0)

    def test_questions_are_answered_while_the_collector_restarts_again_and_again(self):
        self.reporter().key_write(TABLE, b"key", b"value")
        self.expect("key", b"value")
        stop = threading.Event()

        def restart():
            while not stop.is_set():
                self.collector.kill()
                self.start_collector()
                time.sleep(0.2)

        restarting = threading.Thread(target=restart)
        restarting.start()
        try:
            for _ in range(25):
                asked = subprocess.run([binary("pingloom"), "dta", "get", NAME, "text:key", "--file",
                                        str(self.directory / "translator.store")], capture_output=True, text=True,
                                       timeout=30, check=False)
                self.assertEqual(asked.returncode, 0, asked.stderr)
                self.assertIn('"value"', asked.stdout)
        finally:
            stop.set()
            restarting.join()
        # What a thread has started ends with the thread.
        self.start_collector()
        self.connected()
        self.expect("key", b"value")

    def test_only_the_owner_of_the_key_writes_the_store(self):
        for process in (self.translator, self.collector):
            process.stop()
        self.make_keys("collector", "translator", "stranger")
        self.start_all()
        reporter = self.reporter()
        reporter.key_write(TABLE, b"key", b"value")
        self.expect("key", b"value")
        self.translator.stop()
        self.start_translator(key="stranger")
        eventually(lambda: self.figure("pingloom_translator_collector_connected") == 0
                   and "cannot be reached" in self.translator.log(), 30, "a stranger is not served")
        self.assertEqual(self.figure("pingloom_translator_connects_total"), 0)
        self.translator.stop()
        self.start_translator()
        self.connected()
        self.assertEqual(self.get("key"), b"value")


if __name__ == "__main__":
    unittest.main()
