"""What a collector that watches pages answers: /metrics/adaptive, /api/v1/events and /api/v1/sampling."""

import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from mesh import ROOT
from pages_case import PagesCase
from processes import binary, eventually

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
FOREVER_MS = 100_000_000

# A writer that counts is over the limit for good; one that has stopped counting is as usual, once it is known.
WATCHED = """analytics:
  interval: 100ms
  slow_interval: 1h
  hold: 1s
  limits: [{ metric: lab_writes_total, above: 0.5 }]
"""


KEPT = "analytics: { interval: 100ms, detector: { directions: 8, max_rank: 4, warm_up: 240 } }"

# A thousand steps in a second, each of about so many milliseconds.
TRAINER = """import random, sys, time, pingloom_pages
pages = pingloom_pages.Pages("trainer")
steps = pages.histogram("step_seconds")
while True:
    for _ in range(50):
        steps.observe(float(sys.argv[1]) / 1000 * random.uniform(0.9, 1.1))
    print(pages.keep_one_in(), flush=True)
    time.sleep(0.05)
"""


class PagesWatch(PagesCase):
    def setUp(self):
        super().setUp()
        self.start_agent(1)
        self.start_collector(agents=[1], settings=WATCHED)
        self.start_collector("plain", [201], agents=[1])
        for collector in self.urls:
            eventually(lambda: self.get("/healthz", collector), 30, "it listens")

    def adaptive(self):
        """The writers that are shown."""
        status, kind, text = self.ask("/metrics/adaptive")
        self.assertEqual(status, 200, text)
        self.assertTrue(kind.startswith("text/plain"), kind)
        own = [family.name for family in parse_text(text) if family.name.startswith("pingloom_collector_")]
        self.assertEqual(own, [], "pages' metrics only")
        return set(re.findall(r'application="(writer-[^"]*)"', text))

    def events(self):
        status, kind, text = self.ask("/api/v1/events")
        self.assertEqual((status, kind), (200, "application/json"), text)
        return json.loads(text)["events"]

    def test_what_is_over_a_limit_is_an_event_and_always_shown(self):
        self.assertEqual(self.events(), [])
        writer = self.writer(1, 1000, pages=1)
        event = eventually(self.events, 60, "a rate above the limit is an event")[0]
        self.assertRegex(event.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
        self.assertGreater(event.pop("value"), event["limit"])
        self.assertGreater(event.pop("owner"), 0)
        self.assertEqual(event, {"kind": "limit", "began": True, "host": "host-1", "application": "writer-1000",
                                 "pid": writer.pid, "metric": "lab_writes_total{identity=1000,page=0}", "limit": 0.5,
                                 "statistic": None, "deviations": []})
        self.assertEqual(json.loads(self.get("/api/v1/sampling?application=writer-1000")),
                         {"application": "writer-1000", "anomalous": True, "keep_one_in": 1, "hosts": ["host-1"]})
        self.assertEqual(self.ask("/api/v1/sampling?application=none")[0], 404)
        self.assertEqual(self.ask("/api/v1/sampling")[0], 400)
        self.assertEqual(self.ask("/api/v1/sampling?application=writer-1000", "plain")[0], 404, "nothing is watched there")
        for _ in range(5):
            self.assertEqual(self.adaptive(), {"writer-1000"})
        status, kind, text = self.ask("/metrics/adaptive", accept=OPENMETRICS)
        self.assertEqual((status, kind.split(";")[0]), (200, OPENMETRICS.split(";")[0]))
        self.assertLessEqual({"lab_writes", "lab_value"}, {family.name for family in parse_openmetrics(text)})

    def test_a_slow_replica_is_named_with_its_peers(self):
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket(1)), "PYTHONPATH": str(ROOT / "python"),
                       "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1]
                                                     / "lib/libpingloom-pages.so")}
        trainers = [self.run_one(f"trainer-{number}", sys.executable, "-B", "-c", TRAINER, "15" if number == 3 else "10",
                                 environment=environment) for number in range(6)]
        said = lambda: {trainer.tail(1).strip() for trainer in trainers}
        eventually(lambda: said() == {"100"}, 60, "tracers read what to keep")
        slow = trainers[3].pid
        event = eventually(lambda: [event for event in self.events()
                                    if (event["pid"], event["statistic"]) == (slow, "peers")], 120, "it is named", 0.2)[0]
        self.assertEqual((event["kind"], event["began"]), ("anomaly", True))
        most = event["deviations"][0]
        self.assertEqual((most["metric"], most["statistic"]), ("step_seconds", "peers"))
        self.assertGreater(most["score"], 1)
        self.assertAlmostEqual(most["value"] / most["peers"], 1.5, delta=0.25)
        self.assertEqual(json.loads(self.get("/api/v1/sampling?application=trainer"))["keep_one_in"], 1)
        eventually(lambda: said() == {"1"}, 30, "all traces of all replicas are kept")
        scores = re.findall(r'pingloom_collector_anomaly_metric_score\{.*pid="(\d+)".*statistic="peers"\}',
                            self.get("/metrics"))
        self.assertIn(str(slow), scores)
        lines = subprocess.run([binary("pingloom"), "pages", "--url", self.urls["collector"]], capture_output=True,
                               text=True, check=True, timeout=60).stdout.splitlines()
        told = next(line for line in lines if line.startswith(f"anomaly: trainer (pid {slow}): "))
        self.assertRegex(told, r"step_seconds \w+ is [\d.e-]+, that of its peers [\d.e-]+ \(peers, score [\d.]+\)$")

    def test_what_is_as_usual_is_shown_now_and_then(self):
        self.writer(1, 1000, pages=1)
        self.writer(1, 1001, pages=1, pause=FOREVER_MS)
        everyone = {"writer-1000", "writer-1001"}
        eventually(lambda: self.adaptive() == everyone, 60, "both are shown while nothing is known of them")
        # Six hundred samples later.
        eventually(lambda: self.adaptive() == {"writer-1000"}, 240, "one is as usual", 0.5)
        text = self.get("/metrics")
        self.assertEqual(set(re.findall(r'lab_writes_total\{application="([^"]*)"', text)), everyone, "/metrics has all")
        left_out = re.search(r"^pingloom_collector_adaptive_suppressed_total (\d+)$", text, re.M)
        self.assertGreater(int(left_out[1]), 0)

    def test_what_is_learned_outlives_the_collector(self):
        state = self.directory / "state"
        self.start_collector("kept", [202], agents=[1], settings=f"state_dir: {state}\n" + KEPT)
        self.writer(1, 1000, pages=1)
        # It has a score once the usual is known: after 240 samples, of which there are ten in a second.
        scored = lambda: re.search(r'^pingloom_collector_anomaly_score\{.*writer-1000', self.get("/metrics", "kept"), re.M)
        eventually(lambda: self.listens("kept") and scored(), 120, "it is known", 0.2)
        self.collectors["kept"].stop()
        self.assertGreater((state / "analytics").stat().st_size, 1000)

        def again():
            """Starts it again, and tells how many samples it has taken when there is a score."""
            self.start_collector("kept", [202], agents=[1], settings=f"state_dir: {state}\n" + KEPT)
            began = time.monotonic()
            eventually(lambda: self.listens("kept") and scored(), 120, "it is known again", 0.2)
            return 10 * (time.monotonic() - began)

        self.assertLess(again(), 230, "it has not been learned again")
        self.collectors["kept"].kill()
        self.assertLess(again(), 230, "what was saved before is still there")
        self.collectors["kept"].stop()
        (state / "analytics").write_bytes((state / "analytics").read_bytes()[:-1])
        self.assertGreater(again(), 230, "a damaged file is worth nothing")
        self.assertIn("damaged; what cannot be read is learned anew", self.collectors["kept"].tail())

    def listens(self, collector):
        try:
            return self.ask("/healthz", collector)[0] == 200
        except OSError:
            return False

    def test_what_cannot_be_asked_for_is_refused(self):
        for path in ("/metrics/adaptive", "/api/v1/events"):
            for method in ("POST", "PUT", "DELETE"):
                self.assertEqual(self.ask(path, method=method)[0], 405, f"{method} {path}")
            status, _, text = self.ask(path, "plain")
            self.assertEqual(status, 404)
            self.assertIn("analytics:", json.loads(text)["error"]["reason"], "what to configure")
            for wrong in (path + "/", path + "/1", path.upper()):
                self.assertEqual(self.ask(wrong)[0], 404, wrong)
            for wrong in (path + "%00", path + "?since=%", path + "?since=%zz",
                          path + "?" + "&".join(f"a{i}=b" for i in range(100))):
                self.assertEqual(self.ask(wrong)[0], 400, wrong)
            # There is nothing to choose: the API says so, and a scrape has what its configuration adds.
            for query in ("?since=yesterday", "?limit=-1", "?application=none"):
                expected = 400 if path.startswith("/api/") else 200
                self.assertEqual(self.ask(path + query)[0], expected, path + query)
        self.assertEqual(self.ask("/metrics/adaptive", accept="image/png")[0], 200, "the text format is for all others")


if __name__ == "__main__":
    unittest.main()
