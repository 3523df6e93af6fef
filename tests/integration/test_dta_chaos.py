"""Reporter, translator and collector are stopped and killed while reports flow. In the end every report is accounted for:
it is in the store, or it was skipped, dropped or overwritten, and none counts twice."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import namespaces
import private_network
import test_dta
import test_dta_kinds
from mesh import ROOT
from processes import binary, eventually

EVENTS, VOTES = test_dta_kinds.EVENTS, test_dta_kinds.VOTES
KEYS = 10
# Reports until it is asked to stop, and says what it did.
REPORTER = f"""
import json, signal, sys, time
import pingloom_report
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
reporter = pingloom_report.Reporter(sys.argv[1])
sent = 0
while not stop:
    reporter.key_write({test_dta.TABLE}, b"key %d" % (sent % {KEYS}), b"%d" % sent)
    reporter.append({EVENTS}, b"%d" % sent)
    reporter.increment({VOTES}, (sent % {KEYS}).to_bytes(4, "big"))
    sent += 1
    time.sleep(0.001)
reporter.flush()
time.sleep(1)  # what the translator misses is sent again
status = reporter.status
print(json.dumps({{"sent": sent, "skipped": status.skipped}}), flush=True)
reporter.close()
"""


class Chaos(test_dta.DtaCase):
    TABLES = test_dta_kinds.Kinds.TABLES

    def setUp(self):
        private_network.enter()
        super().setUp()

    def cut_the_network(self, seconds):
        """Nothing passes between translator and collector, neither RDMA nor the control channel."""
        between = f"ip saddr {{ {self.subnet}.100, {self.subnet}.200 }} ip daddr {{ {self.subnet}.100, {self.subnet}.200 }}"
        private_network.nft("add table inet cut", "add chain inet cut sent { type filter hook output priority 0; }",
                            f"add rule inet cut sent {between} drop")
        time.sleep(seconds)
        private_network.nft("delete table inet cut")

    def start_reporter(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PINGLOOM_REPORT_LIBRARY":
                       str(pathlib.Path(binary("x")).parent.parent / "lib/libpingloom-report.so")}
        started = subprocess.Popen([sys.executable, "-B", "-c", REPORTER, f"127.0.0.1:{self.reports}"], text=True,
                                   stdout=subprocess.PIPE, env=environment)
        self.addCleanup(started.kill)
        return started

    def operation(self, name):
        return int(self.figure(f'pingloom_translator_accepted_total{{operation="{name}"}}'))

    def flows(self):
        """Waits until reports arrive in the store again."""
        before = self.counted()
        eventually(lambda: self.counted() > before + 50, 30, "reports arrive in the store")

    def counted(self):
        return sum(self.ask("count", table="votes", key=f"u32:{key}")["count"] for key in range(KEYS))

    def stand_still(self, process, seconds):
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def follow(self):
        """Reads on in the list in a thread. Returns the follower, and what ends the thread."""
        follower, stop = test_dta_kinds.Follower(self), threading.Event()

        def run():
            while not stop.is_set():
                follower.read()
                time.sleep(0.05)

        thread = threading.Thread(target=run)
        thread.start()

        def end():
            stop.set()
            thread.join()

        self.addCleanup(end)
        return follower, end

    def test_every_report_is_accounted_for(self):
        reporter = self.start_reporter()
        follower, stop_reading = self.follow()
        self.flows()
        for process, seconds in ((self.translator.process, 1.5), (reporter, 1), (self.collector.process, 3)):
            self.stand_still(process, seconds)
            self.connected()
            self.flows()
        self.cut_the_network(3)
        self.connected()
        self.flows()
        self.collector.kill()
        time.sleep(1)
        self.start_collector()
        self.connected()
        self.flows()
        reporter.terminate()
        said = json.loads(reporter.communicate(timeout=60)[0])
        sent, skipped = said["sent"], said["skipped"]
        lost = int(self.figure("pingloom_translator_lost_total"))
        accepted = {name: self.operation(name) for name in ("key_write", "append", "increment")}
        self.assertEqual(self.figure("pingloom_translator_refused_total"),
                         self.figure('pingloom_translator_refused_total{reason="duplicate"}'))
        # A datagram that is lost takes its reports with it; without one all that was not skipped was accepted.
        missing = 3 * sent - skipped - sum(accepted.values())
        self.assertGreaterEqual(missing, lost)
        if lost == 0:
            self.assertEqual(missing, 0)
        eventually(lambda: self.counted() == accepted["increment"], 30,
                   lambda: f"counted {self.counted()}, accepted {accepted}")
        dropped = int(self.figure("pingloom_translator_dropped_total"))
        eventually(lambda: len(follower.got) + follower.lost + dropped >= accepted["append"], 30, "all entries are read")
        stop_reading()
        numbers = [int(entry) for entry in follower.got]
        self.assertEqual(numbers, sorted(set(numbers)), "each entry is there once, in order")
        unread = accepted["append"] - len(numbers) - dropped
        self.assertIn(unread, range(follower.lost + 1), "a reader is told of at least as many as it missed")
        # The values are those of a report, and not older than what was counted before the last fault.
        for key in range(KEYS):
            value = int(self.get(f"key {key}"))
            self.assertEqual(value % KEYS, key)
            self.assertGreaterEqual(value, sent - 2 * KEYS - skipped - 34 * lost)

    def test_a_store_needs_its_memory_at_the_start_and_never_later(self):
        for process in (self.translator, self.collector):
            process.stop()
        store = self.directory / "translator.store"
        size = store.stat().st_size
        disk = self.directory / "disk"
        namespaces.mount_small_disk(self, disk, size + 8192)
        self.store_folder = disk
        filler = disk / "filler"
        filler.write_bytes(bytes(65536))
        self.start_collector()
        eventually(lambda: f"there is no room for {size} bytes" in self.collector.log(), 10, "it says what is missing")
        filler.unlink()
        self.start_all()
        namespaces.fill(filler)
        reporter = self.reporter()
        for key in range(500):
            reporter.key_write(test_dta.TABLE, b"key %d" % key, b"value %d" % key)
        reporter.flush()
        for key in (0, 250, 499):
            self.expect(f"key {key}", b"value %d" % key)
        # The file that a restarted collector finds is the same.
        self.collector.kill()
        self.start_collector()
        self.connected()
        self.expect("key 499", b"value 499")


if __name__ == "__main__":
    import unittest

    unittest.main()
