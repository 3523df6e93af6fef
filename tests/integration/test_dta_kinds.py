"""Lists, counters and paths from end to end: what reporters say, what the collector answers, and what becomes of it when
translators and collectors are killed."""

import json
import struct
import subprocess
import threading
import time
import unittest

import test_dta
from processes import Process, binary, eventually

EVENTS, VOTES, PATHS, CHANGES, COPIES = 2, 3, 4, 5, 6
LISTS = 3


class Kinds(test_dta.DtaCase):
    TABLES = f"""
      - {{ name: latest, id: {test_dta.TABLE}, kind: keyed, slots: 1000, value: 24B }}
      - {{ name: events, id: {EVENTS}, kind: lists, lists: {LISTS}, blocks: 64, entry: 16B }}
      - {{ name: votes, id: {VOTES}, kind: counters, counters: 10000 }}
      - {{ name: paths, id: {PATHS}, kind: paths, slots: 1000 }}
      - {{ name: path-changes, id: {CHANGES}, kind: lists, blocks: 16, entry: 60B }}
      - {{ name: copies, id: {COPIES}, kind: keyed, slots: 4096, value: 8B, copies: 2 }}
"""

    def cli(self, *arguments, code=0):
        done = subprocess.run([binary("pingloom"), "dta", *arguments, "--url",
                               f"http://{self.subnet}.200:{self.collector_http}"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def counted(self, key):
        return self.ask("count", table="votes", key=f"u32:{key}")["count"]

    def report_until(self, report, stop, pause=0.0002):
        """Calls report(number) with ascending numbers in a thread until `stop` is set. Returns the thread."""
        def run():
            number = 0
            while not stop.is_set():
                report(number)
                number += 1
                time.sleep(pause)
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        return thread

    # ---- keyed tables with copies ----

    def test_a_key_is_found_while_one_of_its_copies_is_left(self):
        reporter = self.reporter()
        for key in range(400):
            reporter.key_write(COPIES, struct.pack(">I", key), b"%d" % key)
        reporter.flush()
        value = lambda key: self.ask("get", table="copies", key=f"u32:{key}")["value"]
        eventually(lambda: value(399) is not None, 10, "the last key is stored")
        eventually(lambda: sum(value(key) is not None for key in range(400)) >= 380, 10, "1-(1-e^-0.2)^2 of 400 is 387")
        for key in range(0, 400, 40):
            self.assertIn(value(key), (None, (b"%d" % key).ljust(8, b"\0").hex()))
        described = next(one for one in self.ask("tables")["stores"][0]["tables"] if one["table"] == "copies")
        self.assertEqual(described["copies"], 2)
        self.assertGreater(described["used"], 700)
        self.assertIn("4096 slots, 2 copies", self.cli("tables"))
        # After the translator's restart keys are overwritten as before.
        self.translator.kill()
        self.start_translator()
        self.connected()
        reporter.key_write(COPIES, struct.pack(">I", 7), b"again")
        reporter.flush()
        eventually(lambda: value(7) == b"again".ljust(8, b"\0").hex(), 10, "the key has its new value")

    # ---- lists ----

    def test_a_list_is_followed(self):
        reporter = self.reporter()
        for number in range(1000):
            reporter.append(EVENTS, b"event %d" % number, list=number % LISTS)
        reporter.flush()
        got = Follower(self, list=1).until(333)
        self.assertEqual(got, [b"event %d" % number for number in range(1, 1000, LISTS)])
        # Somebody who waits is answered when an entry comes.
        end = self.ask("tail", table="events", list=1, cursor="end")
        self.assertEqual(end["entries"], [])
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(
            self.ask("tail", table="events", list=1, cursor=end["cursor"], wait="4s")))
        waiting.start()
        self.assertEqual(len(self.ask("tables")["stores"]), 1, "others are served meanwhile")
        reporter.append(EVENTS, b"late", list=1)
        waiting.join()
        self.assertEqual([bytes.fromhex(one["entry"]).rstrip(b"\0") for one in answers[0]["entries"]], [b"late"])
        self.assertEqual(self.ask("tail", table="events", list=1, cursor=answers[0]["cursor"], wait="10ms")["entries"], [])
        # Reports that do not suit the table are refused.
        reporter.append(EVENTS, b"event", list=LISTS)
        reporter.append(EVENTS, b"e" * 17)
        reporter.flush()
        for reason in ("list", "value_length"):
            eventually(lambda: self.figure(f'pingloom_translator_refused_total{{reason="{reason}"}}') == 1, 10, reason)

    def test_the_command_follows_a_list(self):
        reporter = self.reporter()
        for number in range(10):
            reporter.append(EVENTS, b"event %d" % number, list=2)
        shown = self.cli("tail", "events", "2", "--all", "--count", "10")
        self.assertEqual([line.split('"')[1] for line in shown.splitlines()], [f"event {number}" for number in range(10)])
        self.assertTrue(shown.startswith(test_dta.TRANSLATOR), shown)
        shown = subprocess.run([binary("pingloom"), "dta", "tail", "events", "2", "--all", "--count", "3", "--json",
                                "--file", str(self.directory / "translator.store")],
                               capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertEqual([bytes.fromhex(json.loads(line)["entry"])[:7] for line in shown.splitlines()],
                         [b"event 0", b"event 1", b"event 2"])
        self.cli("tail", "latest", "--count", "1", code=2)
        self.cli("tail", "events", str(LISTS), "--count", "1", code=2)

    def test_the_command_ends_after_what_is_there(self):
        reporter = self.reporter()
        for number in range(2500):  # more than one answer has
            reporter.append(EVENTS, b"%d" % number)
        reporter.flush()
        Follower(self).until(2500)
        shown = self.cli("tail", "events", "--all", "--no-follow")
        self.assertEqual([line.split('"')[1] for line in shown.splitlines()], [str(number) for number in range(2500)])
        self.assertEqual(self.cli("tail", "events", "--no-follow"), "")
        self.assertEqual(self.cli("tail", "events", "1", "--all", "--no-follow"), "")

    def test_the_command_survives_restarts_of_the_collector(self):
        reporter, stop = self.reporter(), threading.Event()
        reporter.append(EVENTS, b"0")
        reporter.flush()
        Follower(self).until(1)
        url = f"http://{self.subnet}.200:{self.collector_http}"
        tail = Process("tail", [binary("pingloom"), "dta", "tail", "events", "--all", "--url", url],
                       self.directory / "tail.log")
        self.processes.append(tail)

        def shown():
            return [int(line.split('"')[1]) for line in tail.log().splitlines() if line.startswith(test_dta.TRANSLATOR)]

        def complaints():
            return [line for line in tail.log().splitlines() if line.startswith("pingloom dta: ")]

        eventually(lambda: shown() == [0], 20, "the first entry is shown")
        sending = self.report_until(lambda number: reporter.append(EVENTS, b"%d" % (number + 1)), stop, pause=0.02)
        for round_number in (1, 2):
            (self.collector.kill if round_number == 1 else self.collector.stop)()
            eventually(lambda: len(complaints()) == round_number, 20, "it says that nobody answers")
            self.assertIn("trying again", complaints()[-1])
            self.start_collector()
            self.connected()
            before = len(shown())
            eventually(lambda: len(shown()) > before, 30, "it goes on")
        stop.set()
        sending.join()
        reporter.append(EVENTS, b"99999")
        reporter.flush()
        eventually(lambda: shown()[-1] == 99999, 30, "the last entry is shown")
        self.assertEqual(shown()[:-1], list(range(len(shown()) - 1)), "each entry once and in order")
        self.assertEqual(len(complaints()), 2, "each outage is mentioned once")
        self.assertTrue(tail.running())
        # Without a collector the first question fails.
        self.collector.kill()
        self.assertIn("cannot connect", self.cli("tail", "events", "--all", code=2))

    def test_entries_are_right_when_translators_are_killed(self):
        reporter, stop = self.reporter(forget=True), threading.Event()
        follower = Follower(self)
        sending = self.report_until(lambda number: reporter.append(EVENTS, b"%d" % number), stop)
        for _ in range(3):
            before = len(follower.got)
            eventually(lambda: len(follower.read()) > before + 200, 30, "entries arrive")
            self.translator.kill()
            self.start_translator()
            self.connected()
        before = len(follower.got)
        eventually(lambda: len(follower.read()) > before + 200, 30, "entries arrive")
        stop.set()
        sending.join()
        reporter.append(EVENTS, b"last")
        follower.until(last=b"last")
        numbers = [int(entry) for entry in follower.got[:-1]]
        self.assertEqual(numbers, sorted(set(numbers)), "each entry is there once, in order")
        self.assertEqual(follower.lost, 0)
        self.assertEqual(self.figure("pingloom_translator_dropped_total"), 0)

    def test_entries_outlive_a_collector_that_is_killed(self):
        reporter = self.reporter()
        follower = Follower(self)
        for number in range(500):
            reporter.append(EVENTS, b"%d" % number)
        reporter.flush()
        follower.until(500)
        self.collector.kill()
        for number in range(500, 1500):
            reporter.append(EVENTS, b"%d" % number)
        reporter.flush()
        eventually(lambda: self.figure('pingloom_translator_accepted_total{operation="append"}') == 1500, 20,
                   "everything is accepted")
        self.connected(0)
        self.start_collector()
        self.connected()
        got = follower.until(1500)
        self.assertEqual(got, [b"%d" % number for number in range(1500)])

    def test_without_a_connection_a_list_drops_what_has_no_room(self):
        reporter = self.reporter()
        reporter.append(EVENTS, b"first")
        follower = Follower(self)
        follower.until(1)
        self.collector.kill()
        self.connected(0)
        sent = 5000  # 63 entries fit into a block, and 64 blocks into the list
        for number in range(sent):
            reporter.append(EVENTS, b"%d" % number)
            if number % 500 == 499:
                reporter.flush()
                eventually(lambda: self.figure('pingloom_translator_accepted_total{operation="append"}') == number + 2,
                           20, "everything is accepted")
        eventually(lambda: self.figure("pingloom_translator_dropped_total") > 0, 10, "entries are dropped")
        self.start_collector()
        self.connected()
        reporter.append(EVENTS, b"last")
        got = follower.until(last=b"last")
        dropped = int(self.figure("pingloom_translator_dropped_total"))
        self.assertEqual(len(got) + dropped + follower.lost, sent + 2)
        self.assertEqual(got[1:-1], [b"%d" % number for number in range(sent - dropped)][-(len(got) - 2):])

    # ---- counters ----

    def test_counts_are_right(self):
        reporter = self.reporter()
        for number in range(1000):
            reporter.increment(VOTES, (number % 10).to_bytes(4, "big"), number)
        reporter.flush()
        expected = [sum(range(key, 1000, 10)) for key in range(10)]
        eventually(lambda: [self.counted(key) for key in range(10)] == expected, 10,
                   lambda: f"{[self.counted(key) for key in range(10)]}, not {expected}")
        self.assertEqual(self.counted(10), 0)
        found = self.ask("count", table="votes", key="u32:3")
        eventually(lambda: abs(self.ask("count", table="votes", key="u32:3")["error"] - 2.718281828 * 499500 / 10000) < 0.01,
                   10, "the bound follows from the total")
        self.assertEqual(found["stores"], 1)
        self.assertIn(str(expected[3]), self.cli("count", "votes", "u32:3"))
        self.cli("count", "votes", "u32:77", code=1)
        self.cli("count", "latest", "u32:3", code=2)

    def test_the_most_counted_keys_are_ranked(self):
        # Key n is counted 10 n times, by three reporters together.
        reporters = [self.reporter() for _ in range(3)]
        for number in range(1, 11):
            for turn in range(number):
                reporters[turn % 3].increment(VOTES, b"link-%d" % number, 10)
        reporters[0].increment(VOTES, (7).to_bytes(4, "big"), 1000)
        for reporter in reporters:
            reporter.flush()
        expected = [("u32:7", 1000)] + [(f"text:link-{number}", 10 * number) for number in range(10, 0, -1)]
        self.ranks(expected)
        shown = self.cli("top", "votes", "--limit", "2").splitlines()
        self.assertEqual([line.split()[:3] for line in shown[1:]], [["1", "u32:7", "1000"], ["2", "text:link-10", "100"]])
        self.cli("top", "events", code=2)
        # The ranking is in the store: it is there while no collector runs, and after a restart of either side.
        self.collector.kill()
        file = str(self.directory / "translator.store")
        self.assertEqual(json.loads(self.cli("top", "votes", "--json", "--limit", "1", "--file", file))["keys"],
                         [{"key": "u32:7", "count": 1000}])
        self.start_collector()
        self.connected()
        self.ranks(expected)
        self.translator.kill()
        self.start_translator()
        self.connected()
        self.ranks(expected)
        reporters[1].increment(VOTES, b"link-1", 5000)
        reporters[1].flush()
        self.ranks([("text:link-1", 5010), *expected[:-1]])

    def ranks(self, expected):
        def shown():
            return [(one["key"], one["count"]) for one in self.ask("top", table="votes", limit=1000)["keys"]]
        eventually(lambda: shown() == expected, 20, lambda: f"{shown()}, not {expected}")

    def test_no_report_counts_twice_when_translators_and_collectors_are_killed(self):
        reporter, stop = self.reporter(), threading.Event()
        sent = []

        def report(number):
            reporter.increment(VOTES, b"\0\0\0\1")
            if number % 20 == 0:
                reporter.flush()
            sent.append(number)
        sending = self.report_until(report, stop)
        accepted = 0
        for kill, start in ((self.kill_collector, self.start_collector), (self.kill_translator, self.start_translator),
                            (self.kill_collector, self.start_collector), (self.kill_translator, self.start_translator)):
            eventually(lambda: self.figure('pingloom_translator_accepted_total{operation="increment"}') > 500, 30,
                       "reports are accepted")
            if start == self.start_translator:
                eventually(lambda: self.counted(1) > accepted, 30, "and written")
                accepted = self.counted(1)
            kill()
            start()
            self.connected()
        stop.set()
        sending.join()
        reporter.flush()
        skipped = reporter.status.skipped
        eventually(lambda: self.settled_count(1), 30, "the count stands still")
        counted = self.counted(1)
        self.assertLessEqual(counted, len(sent) - skipped, "no report counts twice")
        self.assertGreater(counted, accepted, "it goes on from what was there")
        self.cli("tables")

    # ---- paths ----

    @staticmethod
    def tuple(sport=49152, destination=9):
        return bytes((17, 10, 0, 0, 1, 10, 0, 1, destination)) + sport.to_bytes(2, "big") + (4791).to_bytes(2, "big")

    @staticmethod
    def postcard(last, microseconds):
        return bytes((10, 0, 9, last)) + (microseconds * 1000).to_bytes(4, "big")

    def paths(self, **query):
        query = query or {"source": "10.0.0.1", "destination": "10.0.1.9"}
        return self.ask("path", **query)["paths"]

    def test_a_path_is_joined_and_its_changes_are_listed(self):
        reporter = self.reporter()
        for hop, last in ((2, 3), (0, 1), (1, 2)):
            reporter.postcard(PATHS, self.tuple(), hop, 3, self.postcard(last, 10 * last))
        reporter.postcard(PATHS, self.tuple(50000), 1, 3, self.postcard(2, 20))
        reporter.flush()
        eventually(lambda: len(self.paths()) == 2, 20, "a complete path, and a partial one after a while")
        whole, part = self.paths()
        self.assertEqual((whole["key"], whole["complete"], whole["hops"], whole["changes"]),
                         ("tuple:10.0.0.1:49152>10.0.1.9:4791/udp", True, 3, 0))
        self.assertEqual([hop["address"] for hop in whole["path"]], ["10.0.9.1", "10.0.9.2", "10.0.9.3"])
        self.assertEqual([round(hop["rtt_seconds"] * 1e6) for hop in whole["path"]], [10, 20, 30])
        self.assertEqual((part["complete"], part["path"][0], part["path"][1]["address"]), (False, None, "10.0.9.2"))
        # The rest comes after the translator has been killed: it is added to what the store has.
        self.translator.kill()
        self.start_translator()
        self.connected()
        for hop, last in ((0, 1), (2, 3)):
            reporter.postcard(PATHS, self.tuple(50000), hop, 3, self.postcard(last, 10))
        for hop, last in ((0, 1), (1, 8), (2, 3)):
            reporter.postcard(PATHS, self.tuple(), hop, 3, self.postcard(last, 10))
        reporter.flush()
        eventually(lambda: [(path["complete"], path["changes"]) for path in self.paths()] == [(True, 1), (True, 0)], 20,
                   lambda: f"one has changed, the other is complete: {self.paths()}")
        changes = self.ask("tail", table="path-changes", wait="5s")["entries"]
        self.assertEqual(len(changes), 1)
        entry = bytes.fromhex(changes[0]["entry"])
        self.assertEqual(entry[8:12], bytes((1, 13, 4, 0)))
        self.assertEqual(entry[12:33], bytes((10, 0, 9, 2, 10, 0, 9, 8)) + self.tuple())
        shown = self.cli("path", "10.0.0.1", "10.0.1.9", "--sport", "49152")
        self.assertIn("complete, 1 changes", shown)
        self.assertIn("10.0.9.8  10.0 us", shown)
        self.cli("path", "10.0.0.1", "10.0.1.8", code=1)
        self.cli("path", "10.0.0.1", "fd00::1", code=2)
        self.assertEqual(self.paths(key="tuple:10.0.0.1:50000>10.0.1.9:4791/udp")[0]["hops"], 3)

    def test_postcards_that_do_not_suit_are_refused(self):
        reporter = self.reporter()
        reporter.postcard(PATHS, self.tuple(), 6, 0, self.postcard(1, 1))
        reporter.postcard(PATHS, self.tuple(), 0, 7, self.postcard(1, 1))
        reporter.postcard(PATHS, self.tuple(), 0, 3, b"12345")
        reporter.postcard(EVENTS, self.tuple(), 0, 3, self.postcard(1, 1))
        reporter.flush()
        for reason, count in (("hop", 2), ("value_length", 1), ("wrong_table", 1)):
            eventually(lambda: self.figure(f'pingloom_translator_refused_total{{reason="{reason}"}}') == count, 10, reason)

    def kill_collector(self):
        self.collector.kill()

    def kill_translator(self):
        self.translator.kill()

    def settled_count(self, key):
        before = self.counted(key)
        time.sleep(0.5)
        return self.counted(key) == before


class Follower:
    """Reads on in a list of the table `events`, from the oldest entry on."""

    def __init__(self, case, list=0):
        self.case, self.list = case, list
        self.cursor, self.got, self.lost = "", [], 0

    def read(self):
        try:
            answer = self.case.ask("tail", table="events", list=self.list, cursor=self.cursor)
        except OSError:
            return self.got  # the collector is just starting
        self.cursor = answer["cursor"]
        self.lost += answer["lost"]
        self.got += [bytes.fromhex(one["entry"]).rstrip(b"\0") for one in answer["entries"]]
        return self.got

    def until(self, count=None, last=None, seconds=30):
        """Reads until there are `count` entries, or until the last one is `last`. Returns all entries."""
        eventually(lambda: len(self.read()) == count if last is None else self.read()[-1:] == [last], seconds,
                   lambda: f"{len(self.got)} entries, the last {self.got[-1:]}")
        return self.got


if __name__ == "__main__":
    unittest.main()
