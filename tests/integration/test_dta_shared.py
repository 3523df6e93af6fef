"""Counters that several translators share: each adds to them by RDMA atomics, and one that dies takes nothing along."""

import unittest

import test_dta
from mesh import free_port
from processes import eventually

VOTES = 3
STORE = "votes"
TRANSLATORS = 2
IN_FLIGHT = 16  # atomics; as many may count twice when a connection fails


class Shared(test_dta.DtaCase):
    def start_all(self):
        self.ports = [free_port() for _ in range(TRANSLATORS)]
        self.https = [free_port() for _ in range(TRANSLATORS)]
        self.start_collector()
        self.translators = [self.start_one(number) for number in range(TRANSLATORS)]
        self.all_connected()

    def start_collector(self):
        self.collector = self.run_one("collector", f"""
address: {self.subnet}.200
device: soft
stores_port: {self.control}
http: {self.subnet}.200:{self.collector_http}
stores:
  - translator: {STORE}
    shared: true
    file: {self.directory}/votes.store
    tables: [{{ name: votes, id: {VOTES}, kind: counters, counters: 10000 }}]
""")

    def start_one(self, number):
        return self.run_one("translator", f"""
address: {self.subnet}.{100 + number}
device: soft
name: {STORE}
collector: {self.subnet}.200:{self.control}
listen: 127.0.0.1:{self.ports[number]}
http: {self.subnet}.{100 + number}:{self.https[number]}
""", number)

    def of(self, number, name):
        return self.figure_at(f"{self.subnet}.{100 + number}:{self.https[number]}", name)

    def all_connected(self):
        for number in range(TRANSLATORS):
            eventually(lambda: self.of(number, "pingloom_translator_collector_connected") == 1, 30, f"{number} is connected")

    def count(self, key):
        return self.ask("count", table="votes", key=f"text:{key}")["count"]

    def add(self, number, key, times, amount=1):
        reporter = self.reporter(f"127.0.0.1:{self.ports[number]}")
        for _ in range(times):
            reporter.increment(VOTES, key.encode(), amount)
        reporter.flush()

    def test_translators_add_to_the_same_counters(self):
        for number in range(TRANSLATORS):
            self.add(number, "both", 1000, amount=number + 1)
            self.add(number, f"only-{number}", 10)
        eventually(lambda: self.count("both") == 3000, 20, lambda: f"{self.count('both')} are counted")
        for number in range(TRANSLATORS):
            eventually(lambda: self.count(f"only-{number}") == 10, 10, "each has its own keys, too")
        answer = self.ask("count", table="votes", key="text:both")
        self.assertFalse(answer["stale"])
        self.assertAlmostEqual(answer["error"], 2.71828 * 3020 / 10000, places=2)
        store = self.ask("tables")["stores"][0]
        self.assertTrue(store["shared"] and store["connected"] and not store["writer"]["stale"])
        self.assertEqual(store["tables"][0]["increments"], 3020)
        self.assertNotIn("lost", store["writer"], "no writer can say it for all")
        # One that dies takes nothing along, and the other goes on.
        self.translators[1].kill()
        self.add(0, "both", 7)
        eventually(lambda: self.count("both") == 3007, 20, lambda: f"{self.count('both')} are counted")
        self.translators[1] = self.start_one(1)
        self.all_connected()
        self.add(1, "both", 3)
        eventually(lambda: self.count("both") == 3010, 20, lambda: f"{self.count('both')} are counted")

    def test_a_killed_collector_makes_few_count_twice_and_none_missing(self):
        keys = [f"key-{number}" for number in range(500)]
        for round in range(3):
            for number in range(TRANSLATORS):
                reporter = self.reporter(f"127.0.0.1:{self.ports[number]}")
                for key in keys:
                    reporter.increment(VOTES, key.encode())
                reporter.flush()
            self.collector.kill()
            self.start_collector()
            self.all_connected()
        expected = 3 * TRANSLATORS

        def counts():
            return {key: self.count(key) for key in keys}
        eventually(lambda: min(counts().values()) >= expected, 30, lambda: f"{min(counts().values())}, not {expected}")
        # A key counts too much if both of its counters do: by a restart, or by another key.
        eventually(lambda: self.ask("tables")["stores"][0]["tables"][0]["increments"] >= expected * len(keys), 10, "all arrived")
        more = sum(counts().values()) - expected * len(keys)
        self.assertLessEqual(more, 3 * TRANSLATORS * IN_FLIGHT * expected)

    def test_translators_without_a_right_are_refused(self):
        config = (self.directory / "collector.yaml").read_text()
        self.collector.stop()
        refused = self.run_one("collector", config.replace("kind: counters, counters: 10000", "kind: keyed, slots: 1, value: 8"))
        eventually(lambda: "has tables of counters only" in refused.log(), 10, "only counters are shared")


if __name__ == "__main__":
    unittest.main()
