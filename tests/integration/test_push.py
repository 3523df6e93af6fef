"""The collector pushes what it shows: to a real Prometheus by remote write, through its death and the applications' ends, to a
receiver that refuses, redirects and asks to wait, and by OpenTelemetry's protocol to one that reads it."""

import base64
import gzip
import http.server
import itertools
import json
import math
import pathlib
import re
import struct
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
pages.summary("wait_seconds", (0.5, 0.99), "How long.").set(8, 2.5, (0.25, 0.75))
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
pages.summary("rest_seconds", (0.5, 0.99), "How long.").set(8, 2.5, (0.25, 0.75))
pages.counter("jobs_total", "Jobs.").add(7)
time.sleep(600)
"""
TOKEN = "a.short+token"  # receivers have rules of their own
BASIC = "Basic " + base64.b64encode(b"tenant-7:pass word").decode()


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

    def shown(self, histograms="compact"):
        """What /metrics says about the steady application: {(name, labels): value}."""
        return {(sample.name, frozenset(sample.labels.items())): sample.value
                for family in parse_text(self.get(f"/metrics?histograms={histograms}")) for sample in family.samples
                if sample.labels.get("application") == "steady"}

    def pushed(self, outcome, what="requests", target="remote_write"):
        name = f"pingloom_collector_push_{what}_total"
        return float(re.search(rf'^{name}\{{target="{target}",outcome="{outcome}"\}} (\S+)$', self.get("/metrics"), re.M)[1])


class RemoteWrite(PushCase):
    def start_all_of_it(self):
        self.start_agent(1)
        self.start_prometheus("--web.enable-remote-write-receiver")
        self.start_collector(agents=[1], settings="name: dpu-1\npush: { remote_write: { url: http://127.0.0.1:"
                                                  f"{self.prometheus_port}/api/v1/write, interval: 1s, histograms: exact }} }}")
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
        eventually(lambda: len(self.shown("exact")) > 100, 60, "the application is shown", 0.2)
        self.assertLess(len(self.shown()), 40, "fewer series of the same histogram")
        wanted = {key: value for key, value in self.shown("exact").items() if not key[0].startswith("process_")}
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
        self.assertRegex(self.collectors["collector"].log(), "push to remote_write: .*; what is pushed waits and is repeated")
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
        summary = {sample["metric"]["quantile"]: sample["value"][1] for sample in self.query("rest_seconds")}
        summary.update((name, self.query(f"rest_seconds_{name}")[0]["value"][1]) for name in ("count", "sum"))
        self.assertEqual(summary, {"0.5": "0.25", "0.99": "0.75", "count": "8", "sum": "2.5"})
        request = urllib.request.Request(self.urls["collector"] + "/metrics", headers={
            "Accept": "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
            "Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            self.assertEqual(answer.headers["Content-Encoding"], "gzip")
            self.assertIn(b"jobs_total", gzip.decompress(answer.read()))
        self.assertEqual([sample["value"][1] for sample in self.query("pingloom_collector_agent_up")], ["1"])


class Receiver(http.server.ThreadingHTTPServer):
    """A receiver whose next answer the test chooses."""

    def __init__(self):
        self.status, self.headers, self.body, self.requests = 204, {}, b"", []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server = self.server
                status, headers = server.status, server.headers
                if self.headers["Authorization"] not in (f"Bearer {TOKEN}", BASIC):
                    status, headers = 401, {}
                server.requests.append((time.monotonic(), self.path, status, dict(self.headers), body))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"who are you?" if status == 401 else server.body)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answered(self, status):
        return [request for request in self.requests if request[2] == status]


class ReceiverCase(PushCase):
    def start_pushing(self, kind, token, credentials="token: token"):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)
        self.set_token(token)
        self.start_agent(1)
        self.start_collector(agents=[1], settings=f"name: dpu-1\npush: {{ {kind}: {{ url: 'http://127.0.0.1:"
                             f"{self.receiver.server_address[1]}/receive/?tenant=a', interval: 1s, {credentials} }} }}")

    def set_token(self, token):
        new = self.directory / "token.new"
        new.touch(0o600)
        new.write_text(token + "\n")
        new.rename(self.directory / "token")


def fields(message):
    """The fields of a protobuf message: [(number, value)]."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        size = {0: 0, 1: 8, 2: None}[tag & 7]
        if size == 0:
            found.append((tag >> 3, varint()))
            continue
        size = varint() if size is None else size
        found.append((tag >> 3, message[at:at + size]))
        at += size
    return found


def one(message, *numbers):
    """The only value of a field of a field and so on."""
    for number in numbers:
        (message,) = [value for field, value in fields(message) if field == number]
    return message


def attributes(message, number):
    """KeyValue { key = 1, value = 2 } with AnyValue { string_value = 1 }."""
    return {one(pair, 1).decode(): one(pair, 2, 1).decode() for field, pair in fields(message) if field == number}


def doubles(data, kind="d"):
    return list(struct.unpack(f"<{len(data) // 8}{kind}", data))


class OpenTelemetry(ReceiverCase):
    """The field numbers are those of opentelemetry-proto 1.x."""

    GAUGE, SUM, HISTOGRAM, SUMMARY = 5, 7, 9, 11

    def received(self):
        """The steady application's metrics in the last push: {name: [(kind, data, point)]}."""
        found = {}
        for *_, body in self.receiver.answered(200):
            resource_metrics = one(gzip.decompress(body), 1)
            self.assertEqual(attributes(one(resource_metrics, 1), 1),
                             {"service.name": "pingloom-collector", "service.instance.id": "dpu-1"})
            for number, metric in fields(one(resource_metrics, 2)):
                if number != 2:
                    continue
                ((kind, data),) = [field for field in fields(metric) if field[0] in (5, 7, 9, 11)]
                for field, point in fields(data):
                    labels = attributes(point, 9 if kind == self.HISTOGRAM else 7) if field == 1 else {}
                    if labels.get("application") == "steady":
                        found[one(metric, 1).decode()] = (kind, data, point, labels)
        return found

    def test_a_user_has_a_password(self):
        self.start_pushing("otlp", "pass word", "user: tenant-7, password: token")
        eventually(lambda: self.receiver.answered(204), 60, "the receiver knows the user", 0.2)
        self.assertEqual(self.receiver.answered(401), [])

    def test_a_receiver_reads_what_metrics_shows(self):
        self.start_pushing("otlp", TOKEN)
        self.receiver.status = 200
        self.start_steady()
        eventually(lambda: "job_seconds" in self.received(), 60, "the application is pushed", 0.5)
        _, _, _, headers, _ = self.receiver.answered(200)[0]
        self.assertEqual((headers["Content-Type"], headers["Content-Encoding"]), ("application/x-protobuf", "gzip"))
        found, shown = self.received(), self.shown()
        plain = {name: (dict(labels), value) for (name, labels), value in shown.items() if "le" not in dict(labels)}

        kind, data, point, labels = found["jobs_total"]
        self.assertEqual((kind, one(data, 2), one(data, 3)), (self.SUM, 2, 1), "cumulative and monotonic")
        self.assertEqual((labels, doubles(one(point, 4))), (plain["jobs_total"][0], [7]))
        self.assertLess(abs(int.from_bytes(one(point, 3), "little") / 1e9 - time.time()), 60)
        kind, _, point, labels = found["load"]
        self.assertEqual((kind, labels, doubles(one(point, 4))), (self.GAUGE, plain["load"][0], [0.1]))

        kind, data, point, labels = found["job_seconds"]
        self.assertEqual((kind, one(data, 2), labels), (self.HISTOGRAM, 2, plain["job_seconds_sum"][0]))
        self.assertEqual((doubles(one(point, 4), "Q"), doubles(one(point, 5))), ([3], [plain["job_seconds_sum"][1]]))
        buckets = sorted((float(dict(labels)["le"]), value) for (name, labels), value in shown.items()
                         if name == "job_seconds_bucket")
        counts, bounds = doubles(one(point, 6), "Q"), doubles(one(point, 7))
        self.assertEqual([bound for bound, _ in buckets], [*bounds, math.inf])
        self.assertEqual([value for _, value in buckets], list(itertools.accumulate(counts)))
        kind, data, point, labels = found["wait_seconds"]
        self.assertEqual((kind, labels, len(fields(data))), (self.SUMMARY, plain["wait_seconds_sum"][0], 1), "points only")
        self.assertEqual((doubles(one(point, 4), "Q"), doubles(one(point, 5))), ([8], [2.5]))
        self.assertEqual([(doubles(one(each, 1)), doubles(one(each, 2))) for field, each in fields(point) if field == 6],
                         [([0.5], [0.25]), ([0.99], [0.75])])
        self.assertGreater(self.pushed("sent", "samples", "otlp"), 4)
        # partial_success { rejected_data_points: 3 error_message: "too old" }
        self.receiver.body = b"\x0a\x0b\x08\x03\x12\x07too old"
        eventually(lambda: self.pushed("refused", "samples", "otlp") >= 6, 60, "what is rejected is counted", 0.2)
        eventually(lambda: "rejects a part: too old" in self.collectors["collector"].log(), 90, "the log says so", 0.2)


class Refusals(ReceiverCase):
    def setUp(self):
        super().setUp()
        self.start_pushing("remote_write", "wrong")

    def log(self):
        return self.collectors["collector"].log()

    def test_refusals_are_dropped_and_others_repeated(self):
        eventually(lambda: len(self.receiver.answered(401)) >= 3, 60, "the wrong token is refused", 0.2)
        eventually(lambda: self.pushed("refused") >= 3, 20, "refusals are counted", 0.2)
        eventually(lambda: "the receiver answers 401: who are you?; write 'token: FILE'" in self.log(), 90, "the log says why", 0.2)
        self.set_token(TOKEN)
        eventually(lambda: self.pushed("sent") >= 2, 60, "the right one is accepted", 0.2)
        _, path, _, headers, _ = self.receiver.answered(204)[0]
        self.assertEqual(path, "/receive/?tenant=a", "it is sent as it is written")
        self.assertEqual((headers["Content-Type"], headers["Content-Encoding"], headers["X-Prometheus-Remote-Write-Version"]),
                         ("application/x-protobuf", "snappy", "0.1.0"))

        # A request whose answer comes late is repeated, so the receiver may have a body twice.
        def received():
            return sum(map(len, {request[4] for request in self.receiver.answered(204)}))

        def counted():
            shown = re.search(r'^pingloom_collector_push_bytes_total\{target="remote_write"\} (\S+)$', self.get("/metrics"), re.M)
            return float(shown[1])

        least = received()
        eventually(lambda: counted() >= least, 30, "the bytes that the receiver has taken are counted", 0.1)
        self.assertLessEqual(counted(), received())

        self.receiver.headers, self.receiver.status = {"Location": "/elsewhere"}, 301
        eventually(lambda: len(self.receiver.answered(301)) >= 2, 60, "it redirects", 0.2)
        self.assertEqual({request[1] for request in self.receiver.requests}, {"/receive/?tenant=a"})

        self.receiver.headers, self.receiver.status = {"Retry-After": "8"}, 429

        def waited():
            """Without Retry-After the pauses are 1 s, 2 s and 4 s. One answer may come too late to be read."""
            times = [request[0] for request in self.receiver.answered(429)[:4]]
            return any(later - earlier > 7.9 for earlier, later in itertools.pairwise(times))

        eventually(waited, 60, "it asks to wait", 0.2)
        at, _, _, _, body = self.receiver.answered(429)[0]
        self.assertEqual({request[4] for request in self.receiver.answered(429)}, {body}, "the same request is repeated")
        self.receiver.headers, self.receiver.status = {}, 204
        eventually(lambda: self.receiver.requests[-1][2] == 204, 60, "it takes them again", 0.2)
        self.assertEqual(next(request for request in self.receiver.answered(204) if request[0] > at)[4], body)

    def test_targets_are_reloaded(self):
        self.set_token(TOKEN)
        eventually(lambda: self.receiver.answered(204), 60, "it pushes", 0.2)
        path = self.directory / "collector.yaml"
        path.write_text(path.read_text().replace("/receive/?tenant=a", "/other"))
        self.collectors["collector"].signal(1)
        eventually(lambda: self.receiver.requests[-1][1] == "/other", 30, "it pushes to another URL", 0.2)
        path.write_text(re.sub("^push: .*$", "", path.read_text(), flags=re.M))
        self.collectors["collector"].signal(1)
        eventually(lambda: "pingloom_collector_push_" not in self.get("/metrics"), 30, "it pushes no more", 0.2)
        self.assertNotIn("restart", self.log())


class MalformedToken(ReceiverCase):
    def test_the_log_names_the_file(self):
        self.start_pushing("remote_write", "two words")
        eventually(lambda: "token: must contain a token without spaces" in self.collectors["collector"].log(), 60,
                   "the log names the file", 0.2)
        self.assertEqual(self.receiver.requests, [])


if __name__ == "__main__":
    unittest.main()
