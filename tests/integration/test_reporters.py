"""Who may report to a translator, how reports are sealed, and what a slow translator does to its reporters."""

import signal
import socket
import subprocess
import time
import unittest

from mesh import free_port
from processes import binary, eventually
from test_dta import NAME, TABLE, DtaCase, LossyPath


class Reporters(DtaCase):
    def key(self, name):
        path = self.directory / f"{name}.key"
        subprocess.run([binary("pingloom"), "keys", "reporter", str(path)], check=True)
        return path

    def permit(self, rights):
        """Restarts the translator with `rights`."""
        self.rights = rights
        self.translator.stop()
        self.start_translator()
        self.connected()

    def refused(self, reason):
        return self.figure(f'pingloom_translator_refused_total{{reason="{reason}"}}')

    def by_reporter(self, reporter, reason):
        return self.figure(f'pingloom_translator_reporter_refused_total{{reporter="{reporter}",reason="{reason}"}}')

    def expect_refused(self, reason, count):
        eventually(lambda: self.refused(reason) == count, 20, lambda: f"{reason}: {self.refused(reason)}, not {count}")

    def report(self, key, **options):
        """Reports a value in a datagram of its own."""
        with self.reporter(**options) as reporter:
            reporter.key_write(TABLE, key, b"value")

    def test_numbers_addresses_and_tables_are_checked(self):
        self.permit(f"""
reporters:
  - {{ id: 1, tables: [{NAME}] }}
  - {{ id: 2, tables: [{TABLE + 1}] }}
  - {{ id: 3, addresses: [10.0.0.0/8, 'fd00::1'] }}
""")
        self.report(b"one", reporter=1)
        self.expect("one", b"value")
        self.report(b"two", reporter=2)
        self.expect_refused("forbidden", 1)
        for reporter in (3, 4):
            self.report(b"other", reporter=reporter)
        self.expect_refused("reporter", 2)
        self.assertEqual(self.accepted(), 1)
        self.assertEqual(self.by_reporter(2, "forbidden"), 1)
        self.assertEqual(self.by_reporter("other", "reporter"), 2)
        self.assertEqual(self.figure("pingloom_translator_reporter_refused_total"), 3)
        line = "reporter 2: 0 datagrams lost, 1 datagrams or reports refused; the latest is from reporter 2 at 127.0.0.1"
        self.assertIn(line, self.translator.log())

    def test_unknown_tables_are_named_before_anybody_reports(self):
        self.permit(f"""
reporters: [{{ id: 1, tables: [{NAME}, latst] }}]
published: {{ listen: '127.0.0.1:{free_port()}', tables: {{ key-write: {NAME}, append: evnts }} }}
""")
        for section, table in (("reporters", "latst"), ("published", "evnts")):
            line = f"'{section}' names tables that the store does not have: {table}"
            eventually(lambda line=line: line in self.translator.log(), 20, line)
        config = self.directory / "translator.yaml"
        config.write_text(config.read_text().replace("latst", "ltest"))
        self.translator.signal(signal.SIGHUP)
        eventually(lambda: "does not have: ltest" in self.translator.log(), 20, "a reload is checked, too")
        self.assertEqual(self.figure("pingloom_translator_datagrams_total"), 0)

    def test_a_key_is_needed_and_can_be_revoked(self):
        key, other = self.key("reporter"), self.key("other")
        self.permit(f"reporters: [{{ id: 7, key: {key} }}, {{ id: 8 }}]")
        self.report(b"sealed", reporter=7, key_file=key)
        self.expect("sealed", b"value")
        self.report(b"bare", reporter=7)
        self.report(b"forged", reporter=7, key_file=other)
        self.report(b"needless", reporter=8, key_file=key)
        self.expect_refused("seal", 3)
        self.report(b"plain", reporter=8)
        self.expect("plain", b"value")
        # Requests for what is missing are sealed as well.
        path = LossyPath(("127.0.0.1", self.reports), lambda n: n % 7 == 0, lambda n: False)
        reporter = self.reporter(path.name, reporter=7, key_file=key)
        for number in range(1, 101):
            reporter.key_write(TABLE, b"key %d" % number, b"value")
            reporter.flush()
            if number % 20 == 0:
                eventually(lambda: path.arrived == number, 10, "the path passes datagrams on")
        self.settled(102)
        self.assertGreaterEqual(reporter.status.repeated, 14)
        # A reload takes the key back. A mistake in the file changes nothing.
        config = self.directory / "translator.yaml"
        text = config.read_text()
        config.write_text(text.replace(str(key), str(key) + ".none"))
        self.translator.signal(signal.SIGHUP)
        eventually(lambda: "stays in force" in self.translator.log(), 20, "the mistake is logged")
        self.report(b"again", reporter=7, key_file=key)
        self.settled(103)
        config.write_text(text.replace(str(key), str(other)))
        self.translator.signal(signal.SIGHUP)
        eventually(lambda: "is in force\n" in self.translator.log(), 20, "the file is read")

        def revoked():
            self.report(b"late", reporter=7, key_file=key)
            return self.refused("seal") > 3
        eventually(revoked, 20, "the old key is refused")
        accepted = self.accepted()
        self.report(b"new", reporter=7, key_file=other)
        self.settled(accepted + 1)

    def test_a_translator_that_stands_still_loses_nothing(self):
        reporter = self.reporter()
        reporter.key_write(TABLE, b"first", b"value")
        self.settled(1)
        eventually(lambda: self.figure("pingloom_translator_replies_total") > 0, 10, "it gives credit")
        time.sleep(0.1)  # the reporter looks for replies every 10 ms
        before = time.monotonic()
        self.translator.signal(signal.SIGSTOP)
        count = 12000  # more than the socket's buffer holds
        for number in range(count):
            reporter.key_write(TABLE, b"key %d" % number, b"value")
            reporter.flush()
        self.translator.signal(signal.SIGCONT)
        quick = time.monotonic() - before < 0.8  # after 1 s without a reply the reporter goes on without credit

        def lost():
            return self.figure("pingloom_translator_lost_total")

        def accounted():
            status = reporter.status
            return status.sent + status.skipped == status.taken and self.accepted() + lost() == status.sent
        eventually(accounted, 30, lambda: f"{self.accepted()} accepted, {lost()} lost, {reporter.status.sent} sent, "
                                          f"{reporter.status.skipped} skipped")
        self.assertGreater(reporter.status.skipped, 0)
        if quick:
            self.assertEqual(lost(), 0)
            self.assertEqual(self.figure("pingloom_translator_socket_overflow_total"), 0)
        self.expect(f"key {count - 1}", b"value")

    def test_a_translator_whose_key_is_taken_back_writes_no_more(self):
        for process in (self.translator, self.collector):
            process.stop()
        for name in ("collector", "translator", "stranger"):
            done = subprocess.run([binary("pingloom"), "keys", "generate", str(self.directory / f"{name}.key")],
                                  capture_output=True, text=True, check=True)
            self.keys[name] = done.stdout.strip()
        self.start_all()
        self.report(b"before")
        self.expect("before", b"value")
        config = self.directory / "collector.yaml"
        text = config.read_text()
        config.write_text(text.replace(self.keys["translator"], self.keys["stranger"]))
        self.collector.signal(signal.SIGHUP)
        self.connected(0)
        eventually(lambda: "has lost its right" in self.collector.log(), 10, "the collector says so")
        self.report(b"after")
        self.settled(2)
        # It is let in again, and writes what it could not.
        config.write_text(text)
        self.collector.signal(signal.SIGHUP)
        self.connected()
        self.expect("after", b"value")

    def test_switches_report_with_packets_of_the_published_dta(self):
        port = free_port()
        self.permit(f"published: {{ listen: '127.0.0.1:{port}', tables: {{ key-write: {NAME} }} }}")
        switch = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(switch.close)

        def send(packet):
            switch.sendto(packet, ("127.0.0.1", port))
        for words in (1, 3):  # the table has no room for 7
            send(bytes([1, 0, 2]) + b"key%d" % words + b"word" * words)
            self.expect(f"key{words}", b"word" * words)
        for sequence in (250, 251, 255, 3):
            send(bytes([1, sequence, 0, 2]) + b"keys" + bytes([0, 0, 0, sequence]))
        eventually(lambda: self.figure("pingloom_translator_published_total") == 6, 20, "all packets arrive")
        self.expect("keys", bytes([0, 0, 0, 3]))
        self.assertEqual(self.figure("pingloom_translator_published_lost_total"), 3 + 3)
        send(bytes([1, 0, 2]) + b"keys" + b"word" * 7)
        self.expect_refused("value_length", 1)
        send(bytes([2, 0]) + bytes(8))
        self.expect_refused("unknown_table", 1)
        send(b"nonsense")
        self.expect_refused("operation", 1)
        self.assertEqual(self.accepted(), 6)


if __name__ == "__main__":
    unittest.main()
