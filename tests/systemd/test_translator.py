"""Tests a collector and a translator on one host with a real systemd: installed, written through, upgraded and removed.

The host has no RDMA device, so both use soft ones, at addresses of their own. The tests of the class tell one story and run in
the order of their names.
"""

import struct
import unittest

from installation import ADDRESS, OTHER, Installation, packed, unpacked, wait

COLLECTOR, TRANSLATOR = "pingloom-collector.service", "pingloom-translator.service"
TABLES = "[{ name: latest, id: 1, kind: keyed, slots: 1000, value: 24B }]"


def report(key, value):
    """A datagram with one key-write for table 1, as docs/report-format.md has it."""
    padded = [part + bytes(-len(part) % 4) for part in (key, value)]
    item = struct.pack("!BBHBBBB", 1, 2 + sum(map(len, padded)) // 4, 1, len(key), 0, 0, len(value)) + b"".join(padded)
    return struct.pack("!2sBBHHIIIIQ", b"PT", 1, 0, 1, 32 + len(item), 0, 1, 1, 0, 0) + item


class Translator(Installation):
    @classmethod
    def setUpClass(cls):
        tarball = max(packed("tarball", "--tarball").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
        cls.begin()
        cls.host.run("hostname", "rack-7")  # names the store
        cls.folder = unpacked(tarball, cls.host)

    def install_translator(self, *options):
        return self.install("--no-agent", "--translator", ADDRESS, "--address", OTHER, "--device", "soft", *options).stdout

    def test_1_two_commands(self):
        self.install("--no-agent", "-k", "--controller", "127.0.0.1", "--insecure", "--address", ADDRESS, "--device", "soft")
        config = self.host.root / "etc/pingloom/collector.yaml"
        config.write_text(config.read_text() + f"\nstores: [{{ translator: rack-7, tables: {TABLES} }}]\n")
        self.host.run("systemctl", "restart", COLLECTOR)
        shown = self.install_translator()
        self.assertIn("the collector has to name this translator", shown)
        self.assertTrue(self.active(TRANSLATOR), shown)
        wait(lambda: self.host.property(TRANSLATOR, "StatusText") == "writing", 30, "the translator writes the store")

    def test_2_a_report_reaches_the_store(self):
        datagram = report(b"queue", b"seventeen").hex()
        send = f"IO::Socket::INET->new(Proto => 'udp', PeerAddr => '127.0.0.1:20716')->send(pack('H*', '{datagram}')) or die"
        self.host.run("perl", "-MIO::Socket::INET", "-e", send)
        wait(lambda: "seventeen" in self.host.run("pingloom", "dta", "get", "latest", "text:queue", check=False).stdout, 20,
             "the value is in the store")

    def test_3_a_reload_says_who_may_report(self):
        config = self.host.root / "etc/pingloom/translator.yaml"
        self.host.run("pingloom", "keys", "reporter", "/etc/pingloom/keys/7.key")
        self.host.run("chown", "pingloom-translator:", "/etc/pingloom/keys/7.key")
        config.write_text(config.read_text() + "\nreporters: [{ id: 7, key: keys/7.key }]\n")
        self.host.run("pingloom", "check", "/etc/pingloom/translator.yaml")
        self.host.run("systemctl", "reload", TRANSLATOR)
        wait(lambda: "translator.yaml is in force" in self.log(TRANSLATOR), 20, "the service reads its file again")

    def test_4_again_is_no_change(self):
        before = self.pid(TRANSLATOR)
        shown = self.install_translator()
        self.assertEqual(shown.count("this version is installed already"), 2, shown)
        self.assertIn("pingloom-collector is installed too", shown)
        shown = self.install().stdout
        self.assertIn("as installed on this host: collector translator", shown)
        self.assertEqual(self.pid(TRANSLATOR), before)

    def test_5_purged_nothing_is_left(self):
        self.install("-d")
        self.assertTrue((self.host.root / "etc/pingloom/translator.yaml").exists())
        self.assertFalse((self.host.root / "usr/local/bin/pingloom-translator").exists())
        self.install("-d", "--purge")
        self.assert_nothing_is_left()
        self.assertNotIn("pingloom", self.host.run("ls", "/dev/shm").stdout)


if __name__ == "__main__":
    unittest.main()
