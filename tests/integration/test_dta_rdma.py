"""`pingloom dta --rdma`: a host reads a collector's stores by RDMA READ and gets what the collector itself answers."""

import json
import struct
import subprocess
import unittest

import test_dta
import test_dta_kinds
from processes import binary, eventually
from test_dta_kinds import EVENTS, PATHS, VOTES


class ByRdma(test_dta.DtaCase):
    TABLES = test_dta_kinds.Kinds.TABLES
    DEAD = "does not answer"  # said of a collector that is not there

    def dta(self, *arguments, code=0, options=()):
        done = subprocess.run([binary("pingloom"), "dta", *arguments, "--rdma", f"{self.subnet}.200:{self.control}",
                               "--source", f"{self.subnet}.150", "--device", "soft", *options],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def json(self, *arguments, **options):
        return json.loads(self.dta(*arguments, "--json", **options))

    def readers(self):
        return self.collector_figure("pingloom_collector_store_readers")

    def test_answers_are_those_of_the_collector(self):
        reporter = self.reporter()
        reporter.key_write(test_dta.TABLE, b"db-7", b"up")
        reporter.increment(VOTES, b"leaf-3", 17)
        for number in range(200):
            reporter.append(EVENTS, b"event %d" % number)
        key = b"\x11\x0a\x00\x00\x01\x0a\x00\x01\x01" + struct.pack(">HH", 49152, 4791)
        for hop in range(2):
            reporter.postcard(PATHS, key, hop, 2, bytes([10, 0, hop, 9]) + struct.pack(">I", 1000 * hop))
        reporter.flush()
        self.expect("db-7", b"up")
        eventually(lambda: self.ask("count", table="votes", key="text:leaf-3")["count"] == 17, 10, "17 are counted")
        value = self.json("get", "latest", "text:db-7")
        self.assertEqual(value["value"], self.ask("get", table="latest", key="text:db-7")["value"])
        self.assertEqual((value["translator"], value["stale"]), (test_dta.TRANSLATOR, False))
        self.assertIn('"up"', self.dta("get", "latest", "text:db-7", options=("--store", test_dta.TRANSLATOR)))
        self.assertEqual(self.json("count", "votes", "text:leaf-3")["count"], 17)
        eventually(lambda: self.ask("top", table="votes")["keys"] != [], 10, "the most counted keys are published")
        self.assertEqual([one["key"] for one in self.json("top", "votes")["keys"]], ["text:leaf-3"])
        tail = self.dta("tail", "events", "--all", "--count", "200")
        self.assertEqual([line.split('"')[1] for line in tail.splitlines()], [f"event {n}" for n in range(200)])
        tuple_text = "tuple:10.0.0.1:49152>10.0.1.1:4791/udp"
        eventually(lambda: self.ask("path", key=tuple_text)["paths"] != [], 10, "the path is there")
        self.assertEqual(self.json("path", tuple_text)["paths"][0]["path"], self.ask("path", key=tuple_text)["paths"][0]["path"])
        shown = self.json("tables")["stores"][0]
        self.assertEqual([table["table"] for table in shown["tables"]],
                         [table["table"] for table in self.ask("tables")["stores"][0]["tables"]])
        self.assertFalse(shown["writer"]["stale"])
        # Each command has told the collector that it is done.
        eventually(lambda: self.readers() == 0, 10, "nobody reads any more")
        self.assertEqual(self.collector_figure('pingloom_collector_store_connections_ended_total{reason="silent"}'), 0)

    def test_what_cannot_be_read_is_said(self):
        self.assertIn("is not in table latest", self.dta("get", "latest", "text:nobody", code=1))
        self.assertIn("no store is for a translator 'rack-9'",
                      self.dta("get", "latest", "text:a", code=2, options=("--store", "rack-9")))
        self.assertIn("no store has a keyed table of it", self.dta("get", "later", "text:a", code=2))
        self.assertIn("of no use with --file", self.dta("get", "latest", "text:a", code=2, options=("--file", "x")))
        self.assertIn("belong together", self.dta("get", "latest", "text:a", code=2, options=("--secret", "x")))
        self.collector.kill()
        self.assertIn(self.DEAD, self.dta("get", "latest", "text:a", code=2))


class ByRdmaWithKeys(ByRdma):
    """The same with keys: a reader needs one that its store's `readers:` has."""

    DEAD = "cannot be reached, or does not take our key"

    def start_all(self):
        self.make_keys("collector", "translator", "reader", "stranger")
        self.store_rights = f"readers: ['{self.keys['reader']}']"
        super().start_all()

    def dta(self, *arguments, code=0, options=(), key="reader"):
        mine = () if "--secret" in options else ("--secret", str(self.directory / f"{key}.key"),
                                                 "--collector-key", self.keys["collector"])
        return super().dta(*arguments, code=code, options=(*options, *mine))

    def test_others_read_nothing(self):
        self.assertIn("has no store that this key may read", self.dta("tables", code=2, key="translator"))
        self.assertIn("may not read that store",
                      self.dta("tables", code=2, key="translator", options=("--store", test_dta.TRANSLATOR)))
        self.assertIn("does not take our key", self.dta("tables", code=2, key="stranger"))


if __name__ == "__main__":
    unittest.main()
