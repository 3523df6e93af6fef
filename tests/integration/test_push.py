"""The collector pushes what it shows: to a real Prometheus by remote write, through its death and the applications' ends, and
to a receiver that refuses, redirects and asks to wait."""

import http.server
import json
import math
import pathlib
import re
import sys
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.parser import text_string_to_metric_families as parse_text

from mesh import ROOT, free_port
from pages_case import PagesCase
from processes import binary, eventually

STEADY = """
import sys, time
import pingloom_pages
pages = pingloom_pages.Pages("steady", labels={"service": 'a "b"\\\\c'})
pages.counter("jobs_total", "Jobs.", {"job": "mail"}).add(7)
pages.gauge("load", "Load.").set(0.1)
took = pages.histogram("job_seconds", "How long.")
for value in (2e-6, 3e-6, 0.005): took.observe(value)
time.sleep(600)
"""
# 10,000 values spread evenly from 1 us to 10 ms, and values in bounds of the application's own.
SPREAD = """
import time
import pingloom_pages
pages = pingloom_pages.Pages("spread")
took = pages.histogram("job_seconds", "How long.")
for value in range(1, 10_001): took.observe(value / 1e6)
bounded = pages.bounded_histogram("wait_seconds", [0.1, 1], "How long.")
for value in (0.05, 0.5, 0.5, 5): bounded.observe(value)
pages.counter("jobs_total", "Jobs.").add(7)
time.sleep(600)
"""
TOKEN = "0123456789abcdef0123456789abcdef"


class PushCase(PagesCase):
    def environment(self, number=1):
        return {"PINGLOOM_PAGES_SOCKET": str(self.socket(number)), "PYTHONPATH": str(ROOT / "python"),
                "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1] / "lib/libpingloom-pages.so")}

    def start_steady(self):
        self.steady = self.run_one("steady", sys.executable, "-B", "-c", STEADY, environment=self.environment())

    def start_prometheus(self, *options, scrapes=""):
        self.prometheus_port = getattr(self, "prometheus_port", None) or free_port()
        config = self.directory / "prometheus.yml"
        config.write_text("global: { scrape_interval: 1s }\n" + scrapes)
        self.prometheus = self.run_one(
            "prometheus", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.directory}/tsdb",
            f"--web.listen-address=127.0.0.1:{self.prometheus_port}", *options)
        eventually(self.prometheus_ready, 60, "Prometheus is ready", 0.2)

    def prometheus_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.prometheus_port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def query(self, expression):
        url = f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]["result"]

    def shown(self):
        """What /metrics says about the steady application: {(name, labels): value}."""
        return {(sample.name, frozenset(sample.labels.items())): sample.value
                for family in parse_text(self.get("/metrics")) for sample in family.samples
                if sample.labels.get("application") == "steady"}

    def pushed(self, outcome, what="requests", target="remote_write"):
        name = f"pingloom_collector_push_{what}_total"
        return float(re.search(rf'^{name}\{{target="{target}",outcome="{outcome}"\}} (\S+)$', self.get("/metrics"), re.M)[1])


class RemoteWrite(PushCase):
    def start_all_of_it(self):
        self.start_agent(1)
        self.start_prometheus("--web.enable-remote-write-receiver")
        self.start_collector(agents=[1], settings="name: dpu-1\npush: { remote_write: { url: http://127.0.0.1:"
                                                  f"{self.prometheus_port}/api/v1/write, interval: 1s }} }}")
        self.start_steady()

    def stored(self):
        """What Prometheus has of the steady application, as shown() but without what a scrape adds."""
        found = {}
        for sample in self.query('{application="steady", __name__!~"process_.*"}'):
            labels = sample["metric"]
            self.assertEqual((labels.pop("job"), labels.pop("instance")), ("pingloom-collector", "dpu-1"))
            if "exported_job" in labels:
                labels["job"] = labels.pop("exported_job")
            found[labels.pop("__name__"), frozenset(labels.items())] = float(sample["value"][1])
        return found

    def test_a_real_prometheus_takes_what_metrics_shows(self):
        self.start_all_of_it()
        eventually(lambda: len(self.shown()) > 100, 60, "the application is shown", 0.2)
        wanted = {key: value for key, value in self.shown().items() if not key[0].startswith("process_")}
        self.assertIn(7, wanted.values())
        eventually(lambda: self.stored() == wanted, 60, "Prometheus has the same series and values", 0.5)
        self.assertEqual([sample["value"][1] for sample in self.query("pingloom_collector_agent_up")], ["1"])
        self.assertGreater(self.pushed("sent", "samples"), len(wanted))
        self.prometheus.kill()
        killed = time.time()
        before = self.pushed("failed")
        eventually(lambda: self.pushed("failed") >= before + 2, 60, "pushes fail", 0.2)
        self.start_prometheus("--web.enable-remote-write-receiver")
        restarted = time.time()

        def caught_up():
            values = [value for series in self.query("pingloom_collector_agent_up[5m]") for value in series["values"]]
            return any(killed < at < restarted for at, _ in values) and any(at > restarted for at, _ in values)

        eventually(caught_up, 90, "what was pushed meanwhile arrives with its own time", 0.5)
        self.assertEqual((self.pushed("dropped"), self.pushed("refused")), (0, 0))
        self.assertRegex(self.collectors["collector"].log(), "push to remote_write: .*again")
        self.steady.kill()
        # Without stale markers Prometheus would show them for five minutes.
        eventually(lambda: not self.stored(), 60, "the series of an ended application end", 0.5)


class NativeHistograms(PushCase):
    def test_a_real_prometheus_has_native_histograms(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        self.run_one("spread", sys.executable, "-B", "-c", SPREAD, environment=self.environment())
        self.start_prometheus("--enable-feature=native-histograms", scrapes="scrape_configs: [{ job_name: c, static_configs: "
                              f"[{{ targets: ['{self.urls['collector'].removeprefix('http://')}'] }}] }}]\n")

        def native():
            found = self.query('job_seconds{application="spread"}')
            return found[0]["histogram"][1] if found and found[0]["histogram"][1]["count"] == "10000" else None

        histogram = eventually(native, 60, "Prometheus has the native histogram", 0.5)
        self.assertAlmostEqual(float(histogram["sum"]), sum(range(1, 10_001)) / 1e6, places=6)
        self.assertEqual(self.query("job_seconds_bucket"), [])
        for share in (0.1, 0.5, 0.9, 0.99):
            value = float(self.query(f"histogram_quantile({share}, job_seconds)")[0]["value"][1])
            print(f"quantile {share}: {value * 1000:.3f} ms instead of {share * 10:.3f} ms")
            self.assertLess(max(value / (share / 100), share / 100 / value), 1.25)
        self.assertEqual({float(sample["metric"]["le"]): sample["value"][1] for sample in self.query("wait_seconds_bucket")},
                         {0.1: "1", 1: "3", math.inf: "4"}, "bounds of one's own stay as they are")
        self.assertEqual([sample["value"][1] for sample in self.query("jobs_total")], ["7"])
        self.assertEqual([sample["value"][1] for sample in self.query("pingloom_collector_agent_up")], ["1"])


class Receiver(http.server.ThreadingHTTPServer):
    """A receiver whose next answer the test chooses."""

    def __init__(self):
        self.status, self.headers, self.requests = 204, {}, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server = self.server
                status, headers = server.status, server.headers
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    status, headers = 401, {}
                server.requests.append((time.monotonic(), self.path, status, dict(self.headers), body))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if status == 401:
                    self.wfile.write(b"who are you?")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answered(self, status):
        return [request for request in self.requests if request[2] == status]


class Refusals(PushCase):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)
        self.token = self.directory / "token"
        self.set_token("f" * 32)
        self.start_agent(1)
        self.start_collector(agents=[1], settings="push: { remote_write: { url: http://127.0.0.1:"
                             f"{self.receiver.server_address[1]}/receive, interval: 1s, token: token }} }}")

    def set_token(self, token):
        new = self.directory / "token.new"
        new.touch(0o600)
        new.write_text(token + "\n")
        new.rename(self.token)

    def log(self):
        return self.collectors["collector"].log()

    def test_refusals_are_dropped_and_others_repeated(self):
        eventually(lambda: len(self.receiver.answered(401)) >= 3, 60, "the wrong token is refused", 0.2)
        eventually(lambda: self.pushed("refused") >= 3, 20, "refusals are counted", 0.2)
        self.assertEqual(self.log().count("the receiver answers 401: who are you?; write 'token: FILE'"), 1)
        self.set_token(TOKEN)
        eventually(lambda: self.pushed("sent") >= 2, 60, "the right one is accepted", 0.2)
        _, path, _, headers, _ = self.receiver.answered(204)[0]
        self.assertEqual(path, "/receive")
        self.assertEqual((headers["Content-Type"], headers["Content-Encoding"], headers["X-Prometheus-Remote-Write-Version"]),
                         ("application/x-protobuf", "snappy", "0.1.0"))

        def bytes_agree():
            shown = re.search(r'^pingloom_collector_push_bytes_total\{target="remote_write"\} (\S+)$', self.get("/metrics"), re.M)
            return float(shown[1]) == sum(len(request[4]) for request in self.receiver.answered(204))

        eventually(bytes_agree, 30, "the bytes are those that the receiver has taken", 0.1)

        self.receiver.status, self.receiver.headers = 301, {"Location": "/elsewhere"}
        eventually(lambda: len(self.receiver.answered(301)) >= 2, 60, "it redirects", 0.2)
        eventually(lambda: "redirects are not followed" in self.log(), 20, "the log says so", 0.2)
        self.assertEqual({request[1] for request in self.receiver.requests}, {"/receive"})

        self.receiver.status, self.receiver.headers = 429, {"Retry-After": "4"}
        eventually(lambda: len(self.receiver.answered(429)) >= 2, 60, "it asks to wait", 0.2)
        first, second = self.receiver.answered(429)[:2]
        self.assertEqual(first[4], second[4], "the same request is repeated")
        self.assertGreater(second[0] - first[0], 3.9)
        self.receiver.status, self.receiver.headers = 204, {}
        eventually(lambda: self.receiver.requests[-1][2] == 204, 60, "it takes them again", 0.2)
        self.assertEqual(next(request for request in self.receiver.answered(204) if request[0] > second[0])[4], first[4])

    def test_targets_are_reloaded(self):
        self.set_token(TOKEN)
        eventually(lambda: self.receiver.answered(204), 60, "it pushes", 0.2)
        path = self.directory / "collector.yaml"
        path.write_text(path.read_text().replace("/receive", "/other"))
        self.collectors["collector"].signal(1)
        eventually(lambda: self.receiver.requests[-1][1] == "/other", 30, "it pushes to another URL", 0.2)
        path.write_text(re.sub("^push: .*$", "", path.read_text(), flags=re.M))
        self.collectors["collector"].signal(1)
        eventually(lambda: "pingloom_collector_push_" not in self.get("/metrics"), 30, "it pushes no more", 0.2)
        self.assertNotIn("restart", self.log())


if __name__ == "__main__":
    unittest.main()
