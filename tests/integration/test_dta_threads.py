"""A translator with two threads: reporters are spread over both stores, and questions are answered from both."""

import unittest

import test_dta
from processes import eventually

COUNTS = 3
REPORTERS = 24


class Threads(test_dta.DtaCase):
    def start_all(self):
        self.rights = "threads: 2"
        super().start_all()

    def start_collector(self):
        tables = (f"[{{ name: {test_dta.NAME}, id: {test_dta.TABLE}, kind: keyed, slots: 20000, value: 24B }}, "
                  f"{{ name: counts, id: {COUNTS}, kind: counters, counters: 1000 }}]")
        stores = "".join(f"  - {{ translator: {name}, file: {self.directory}/{name}.store, tables: {tables} }}\n"
                         for name in (test_dta.TRANSLATOR, test_dta.TRANSLATOR + "-2"))
        self.collector = self.run_one("collector", f"""
address: {self.subnet}.200
device: soft
stores_port: {self.control}
http: {self.subnet}.200:{self.collector_http}
stores:
{stores}""")

    def written(self):
        """The key-writes of each store."""
        return [store["writer"]["key_writes"] if store["writer"] else 0 for store in self.ask("tables")["stores"]]

    def test_both_threads_write(self):
        for number in range(REPORTERS):
            reporter = self.reporter()
            reporter.key_write(test_dta.TABLE, b"key %d" % number, b"value %d" % number)
            reporter.increment(COUNTS, b"all")
            reporter.flush()
        for number in range(REPORTERS):
            self.expect(f"key {number}", b"value %d" % number)
        eventually(lambda: sum(self.written()) == REPORTERS, 20, lambda: self.written())
        # That all are in one store has a chance of 2 in 2^24.
        self.assertGreater(min(self.written()), 0)
        eventually(lambda: self.ask("count", table="counts", key="text:all")["count"] == REPORTERS, 20, "the sum of both")
        self.translator.kill()
        self.start_translator()
        self.connected()
        self.expect("key 0", b"value 0")
        self.assertEqual(self.translator.process.poll(), None)
        self.assertEqual(self.translator.stop(), 0)


if __name__ == "__main__":
    unittest.main()
