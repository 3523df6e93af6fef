"""A mesh comes up: every pair has a row, the row is as documented, every view agrees."""

import csv
import datetime
import io
import json
import unittest

from mesh import Mesh
from processes import eventually

COUNTS = ("sent", "received", "lost", "refused", "unreachable", "ack_lost", "duplicate", "late")
STATISTICS = ("min", "mean", "p50", "p95", "p99", "max")


def utc(text):
    return datetime.datetime.strptime(text.replace("Z", "+0000"),
                                      "%Y-%m-%dT%H:%M:%S.%f%z" if "." in text else "%Y-%m-%dT%H:%M:%S%z")


class Convergence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.maxDiff = None

    def setUp(self):
        self.mesh = Mesh(self, hosts=4, protocols=("udp", "tcp"), interval="50ms", window="1s").start()

    def full_window(self, probe):
        """Rows of a window in which every pair was probed from its beginning to its end."""
        self.mesh.wait_for_rows(probe, state="ok")
        # Where the machine is too busy a ping is skipped, not sent late: half of them will do.
        return eventually(lambda: all(row["sent"] >= 10 for row in self.mesh.rows(probe).values())
                          and self.mesh.rows(probe), 30, f"{probe}: rows of a whole window")

    def check_row(self, row, probe):
        for name in COUNTS:
            self.assertIsInstance(row[name], int, name)
        self.assertEqual(row["sent"],
                         row["received"] + row["lost"] + row["refused"] + row["unreachable"], row)
        self.assertLessEqual(row["sent"], 22, "20 pings fit in a window of 1 s at 50 ms")
        self.assertEqual(row["protocol"], probe)
        self.assertEqual(row["clock"], "kernel")
        self.assertIsInstance(row["anomalous"], dict)
        self.assertEqual(utc(row["end"]) - utc(row["start"]), datetime.timedelta(seconds=1))
        self.assertEqual(utc(row["start"]).microsecond, 0, "windows are aligned")
        age = datetime.datetime.now(datetime.timezone.utc) - utc(row["end"])
        self.assertLess(abs(age), datetime.timedelta(seconds=20))
        parts = ["network_ns", "rtt_ns"] + (["responder_ns", "prober_ns"] if probe == "udp" else [])
        for part in parts:
            values = [row[part][name] for name in STATISTICS]
            self.assertTrue(all(isinstance(value, int) and value >= 0 for value in values), row)
            low, mean, p50, p95, p99, high = values
            self.assertTrue(low <= p50 <= p95 <= p99 <= high and low <= mean <= high, row)
        self.assertLess(row["network_ns"]["p50"], 50_000_000, "loopback is faster than 50 ms")
        if probe == "tcp":
            self.assertNotIn("responder_ns", row)
            self.assertNotIn("prober_ns", row)

    def test_udp_rows(self):
        rows = self.full_window("udp")
        self.assertEqual(rows.keys(), self.mesh.pairs())
        for row in rows.values():
            self.check_row(row, "udp")
            self.assertEqual(row["lost"], 0, row)

    def test_tcp_rows(self):
        rows = self.full_window("tcp")
        self.assertEqual(rows.keys(), self.mesh.pairs())
        for row in rows.values():
            self.check_row(row, "tcp")
            self.assertEqual(row["refused"], 0, row)

    def test_index_and_expiry_in_redis(self):
        self.mesh.wait_for_rows("udp")
        self.mesh.wait_for_rows("tcp")
        self.assertEqual(set(self.mesh.ask_redis("SMEMBERS", "pingloom:probes")), {"udp", "tcp"})
        self.assertEqual(set(self.mesh.ask_redis("SMEMBERS", "pingloom:sources:udp")),
                         set(self.mesh.addresses))
        life = self.mesh.ask_redis("PTTL", f"pingloom:latest:udp:{self.mesh.addresses[0]}")
        self.assertGreater(life, 0, "a source that is gone must leave Redis by itself")

    def test_api_agrees_with_redis(self):
        self.mesh.wait_for_rows("udp", state="ok")
        self.mesh.wait_for_rows("tcp", state="ok")
        source, destination = self.mesh.addresses[:2]
        row = self.mesh.get(f"/api/v1/pairs/udp/{source}/{destination}").json()
        self.assertEqual((row["probe"], row["source"], row["destination"]),
                         ("udp", source, destination))
        self.check_row(row, "udp")
        grid = self.mesh.get("/api/v1/grid?probe=udp&metric=network_p50").json()
        self.assertEqual((grid["probe"], grid["protocol"], grid["metric"], grid["unit"]),
                         ("udp", "udp", "network_p50", "ns"))
        for i, a in enumerate(grid["sources"]):
            for j, b in enumerate(grid["destinations"]):
                self.assertEqual(grid["values"][i][j] is None, a == b)
                self.assertEqual(grid["states"][i][j], None if a == b else "ok")
        self.assertEqual(self.mesh.get("/healthz").status, 200)
        self.assertEqual(self.mesh.get("/readyz").status, 200)
        for path, status in (("/api/v1/grid?probe=none&metric=loss", 404),
                             ("/api/v1/grid?probe=udp&metric=none", 400),
                             ("/api/v1/pairs/udp/1.2.3.4/1.2.3.5", 404), ("/api/v1/none", 404)):
            answer = self.mesh.get(path)
            self.assertEqual(answer.status, status, path)
            self.assertTrue(answer.json()["error"]["reason"], path)

    def test_history_is_what_was_live(self):
        live = next(iter(self.full_window("udp").values()))
        source, destination = self.mesh.addresses[:2]
        pair = f"/api/v1/history/pairs/udp/{source}/{destination}"
        eventually(lambda: len(self.mesh.get(pair).json()["rows"]) >= 4, 30, "four windows of it")
        # A window of the past, and the same one as a row of the pair's series.
        series = self.mesh.get(pair).json()
        self.assertEqual((series["source"], series["destination"]), (source, destination))
        self.assertEqual((series["windows_per_row"], series["windows_read"]), (1, "1/1"))
        starts = [row["start"] for row in series["rows"]]
        self.assertEqual(starts, sorted(set(starts)))
        row = series["rows"][-1]
        # History keeps what was judged, but not the figures that it was compared with.
        self.assertEqual(row.keys(), live.keys() - {"because"})
        grid = self.mesh.get("/api/v1/history/grid?probe=udp&metric=network_p50&at="
                             + row["start"]).json()
        self.assertEqual(grid["values"][grid["sources"].index(source)]
                         [grid["destinations"].index(destination)], row["network_ns"]["p50"])
        self.assertEqual(grid["window"]["start"], row["start"])
        # Down-sampled, nothing is lost.
        bounds = f"from={starts[0]}&to={row['start']}"
        every = self.mesh.get(f"{pair}?{bounds}").json()["rows"]
        two = self.mesh.get(f"{pair}?{bounds}&points=2").json()["rows"]
        self.assertLessEqual(len(two), 2)
        for count in COUNTS:
            self.assertEqual(sum(one[count] for one in two), sum(one[count] for one in every), count)
        self.assertEqual((two[0]["start"], two[-1]["end"]), (every[0]["start"], every[-1]["end"]))
        # It outlives the controller.
        self.mesh.controller.stop()
        self.mesh.start_controller()
        again = self.mesh.get(f"{pair}?{bounds}").json()["rows"]
        self.assertEqual(again, every)
        span = self.mesh.get("/api/v1/history").json()
        self.assertLessEqual(utc(span["oldest"]), utc(starts[0]))
        self.assertGreaterEqual(utc(span["newest"]), utc(row["start"]))
        empty = self.mesh.get("/api/v1/history/grid?probe=udp&metric=loss&at=2001-01-01T00:00:00Z").json()
        self.assertIsNone(empty["window"])
        for path, status in (("/grid?probe=udp&metric=loss", 400), ("/none", 404),
                             ("/grid?probe=udp&metric=loss&at=yesterday", 400),
                             (f"/pairs/udp/{source}/1.2.3.4", 404),
                             (f"/pairs/udp/{source}/{destination}?points=0", 400),
                             (f"/pairs/udp/{source}/{destination}?points=9999999", 400),
                             (f"/pairs/udp/{source}/{destination}?path=3", 400),
                             ("/events?probe=none", 404), ("/events?source=host", 400),
                             ("/events?limit=10001", 400), ("/events?bins=-1", 400),
                             ("/events?from=2026-11-21T04:00:00Z&to=2026-11-21T03:00:00Z", 400),
                             (f"/pairs/udp/{source}/{destination}?from=2026-11-21T04:00:00Z"
                              "&to=2026-11-21T03:00:00Z", 400)):
            answer = self.mesh.get("/api/v1/history" + path)
            self.assertEqual(answer.status, status, path)
            self.assertTrue(answer.json()["error"]["reason"], path)

    def test_command_line(self):
        self.mesh.wait_for_rows("udp", state="ok")
        self.mesh.wait_for_rows("tcp", state="ok")
        redis = ["--redis", f"unix:{self.mesh.redis_socket}"]
        a, b = self.mesh.addresses[:2]
        answer = self.mesh.cli("results", "--json", "--probe", "udp", "--src", a, *redis)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = [json.loads(line) for line in answer.stdout.splitlines()]
        self.assertEqual([row["destination"] for row in rows], self.mesh.addresses[1:])
        for row in rows:
            self.assertEqual((row["probe"], row["source"]), ("udp", a))
            self.check_row(row, "udp")
        answer = self.mesh.cli("results", "--csv", *redis)
        table = list(csv.DictReader(io.StringIO(answer.stdout)))
        self.assertEqual(len(table), 2 * len(self.mesh.pairs()))
        self.assertTrue(all(row["network_p50_ns"].isdigit() for row in table))
        answer = self.mesh.cli("results", "--probe", "tcp", "--src", a, "--dst", b, *redis)
        self.assertEqual(len(answer.stdout.splitlines()), 2, answer.stdout)
        nothing = self.mesh.cli("results", "--src", "192.0.2.1", *redis)
        self.assertEqual((nothing.returncode, nothing.stdout), (1, ""))
        self.assertEqual(self.mesh.cli("results", "--redis", "unix:/nonexistent").returncode, 2)
        self.assertEqual(self.mesh.cli("results", "--sorce", "x").returncode, 2)

        status = self.mesh.cli("status", "--url", self.mesh.url)
        self.assertEqual(status.returncode, 0, status.stdout + status.stderr)
        self.assertTrue(json.loads(
            self.mesh.cli("status", "--json", "--url", self.mesh.url).stdout)["healthy"])
        self.assertEqual(self.mesh.cli("status", "--url", "http://127.0.0.1:1").returncode, 2)
        top = self.mesh.cli("top", "--once", "-n", "5", "--sort", "rtt", "--url", self.mesh.url)
        self.assertEqual((top.returncode, len(top.stdout.splitlines())), (0, 6), top.stderr)
        document = json.loads(self.mesh.cli("top", "--json", "--url", self.mesh.url).stdout)
        figures = [pair["network_p99_ns"] for pair in document["pairs"]]
        self.assertEqual(figures, sorted(figures, reverse=True))
        self.assertEqual(document["pairs_total"], 2 * len(self.mesh.pairs()))
        ping = self.mesh.cli("ping", "udp", b, "--port", str(self.mesh.port), "-c", "3", "-i",
                             "50ms")
        self.assertEqual(ping.returncode, 0, ping.stdout + ping.stderr)

    def test_results_watch_prints_new_windows(self):
        self.mesh.wait_for_rows("udp", state="ok")
        from processes import binary
        a, b = self.mesh.addresses[:2]
        watch = self.mesh.run("watch", binary("pingloom"), "results", "--watch", "--json", "--probe",
                              "udp", "--src", a, "--dst", b, "--redis",
                              f"unix:{self.mesh.redis_socket}")

        def windows():
            return [json.loads(line)["start"] for line in watch.log().splitlines()
                    if line.endswith("}")]

        eventually(lambda: len(windows()) >= 3, 40, "three windows are printed")
        seen = windows()
        self.assertEqual(seen, sorted(set(seen)), "each window once, in order")
        self.assertEqual(watch.stop(), 0)


if __name__ == "__main__":
    unittest.main()
