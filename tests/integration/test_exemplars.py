"""Exemplars from end to end: applications give values traces, and whoever scrapes a collector or is pushed to has them."""

import gzip
import json
import re
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from processes import binary, eventually
from test_push import TOKEN, PushCase, ReceiverCase, attributes, doubles, fields, one

# Each exemplar says twice whose it is.
TRACED = """import itertools, time, prometheus_client, pingloom_pages, pingloom_pages_prometheus
bridged = prometheus_client.Counter("bridged_jobs", "Jobs.")
pingloom_pages_prometheus.publish("bridge")
pages = pingloom_pages.Pages("traced")
took = pages.histogram("job_seconds", "How long.", exemplars=True)
jobs = pages.counter("jobs_total", "Jobs.", exemplars=True)
for i in itertools.count(1):
    for seconds in (2e-6, 0.003, 5.0):
        took.observe(seconds, {"trace_id": f'{seconds} "{i}', "span_id": str(i)})
    jobs.add(i, {"trace_id": str(i), "twice": str(2 * i)})
    bridged.inc(1, exemplar={"trace_id": "from the library"})
    time.sleep(0.0005)
"""
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TILL = '"} 1 # {\\'  # which has to be escaped
SLOW = f"""
import time, pingloom_pages
pages = pingloom_pages.Pages("slow")
trace = {{"trace_id": "{TRACE}", "span_id": "{SPAN}", "till": {TILL!r}}}
pages.histogram("job_seconds", exemplars=True).observe(0.003, trace)
pages.counter("jobs_total", exemplars=True).add(4, trace)
time.sleep(600)
"""
# Writes exemplars past the library, with checksums that are right: of a name and of a value that would end a line, of last week,
# and one that is none the less good. The fifth counter's is torn.
HOSTILE = """
import ctypes, struct, time, pingloom_pages
pages = pingloom_pages.Pages("hostile")
def put(name, labels, age=0, spoil=0):
    counter = pages.counter(name, exemplars=True)
    counter.add(1)
    text = b"".join(bytes([len(part)]) + part for label in labels for part in label)
    rest = struct.pack("<QQd", 2, int((time.time() - age) * 1e9), 1.0) + text.ljust(96, bytes(1))
    checksum = 14695981039346656037
    for byte in rest:
        checksum = (checksum ^ byte) * 1099511628211 % 2**64
    ctypes.memmove(counter._exemplars.slots, struct.pack("<Q", checksum ^ spoil) + rest, 128)
put("a_total", [(b'x"} 1\\n# EOF\\n', b"y")])
put("b_total", [(b"x", b'"} 1\\n# EOF\\n')])
put("c_total", [(b"x", b"old")], 7 * 86400)
put("d_total", [(b"x", b'say "hi"')])
put("e_total", [(b"x", b"torn")], 0, 1)
time.sleep(600)
"""


class Shown(PushCase):
    def test_what_an_application_writes_past_the_library_is_counted(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        self.run_one("hostile", "/usr/bin/python3", "-B", "-c", HOSTILE, environment=self.environment())

        def shown():
            text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
            families = {family.name: family for family in parse_openmetrics(text)}
            if not set("abcde") <= families.keys():
                return None
            exemplars = {name: families[name].samples[0].exemplar for name in "abcde"}
            left_out = families["pingloom_collector_exemplars_left_out"].samples
            return exemplars, {sample.labels["reason"]: sample.value for sample in left_out}

        eventually(lambda: shown() and shown()[1] == {"torn": 1, "malformed": 2, "old": 1, "ahead": 0}, 60, shown, 0.2)
        exemplars, _ = shown()
        self.assertEqual({name: exemplars[name] and exemplars[name].labels for name in "abcde"},
                         {"a": None, "b": None, "c": None, "d": {"x": 'say "hi"'}, "e": None})
        listed = subprocess.run([binary("pingloom"), "pages", "--exemplars", "--url", self.urls["collector"]],
                                capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(re.findall(r"^exemplar: (.*) d_total 1 at [\d:T.-]+Z, hostile \(pid \d+\)$", listed, re.M),
                         [r'{x="say \"hi\""}'])
        self.assertEqual(listed.count("exemplar: "), 1)

    def test_exemplars_are_shown_with_the_values_they_belong_to(self):
        self.start_agent(1)
        self.start_collector(agents=[1])
        self.run_one("traced", "/usr/bin/python3", "-B", "-c", TRACED, environment=self.environment())
        latest = set()

        def shown():
            text = self.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
            families = {family.name: family for family in parse_openmetrics(text)}
            if not {"job_seconds", "jobs", "bridged_jobs"} <= families.keys():
                return False
            found = {}
            for sample in families["job_seconds"].samples:
                if sample.exemplar is None:
                    continue
                self.assertEqual(sample.name, "job_seconds_bucket")
                exemplar = sample.exemplar
                self.assertGreaterEqual(float(sample.labels["le"]), exemplar.value)
                self.assertLess(abs(float(exemplar.timestamp) - time.time()), 60)
                seconds, number = exemplar.labels["trace_id"].split(' "')
                self.assertEqual((float(seconds), number), (exemplar.value, exemplar.labels["span_id"]), "none is torn")
                found[exemplar.value] = sample.labels["le"]
            self.assertLessEqual(found.items(), {2e-6: "2.048e-06", 0.003: "0.004194304", 5.0: "8.589934592"}.items())
            for sample in families["jobs"].samples:
                if sample.exemplar is not None:
                    number = int(sample.exemplar.labels["trace_id"])
                    self.assertEqual((sample.exemplar.labels["twice"], sample.exemplar.value), (str(2 * number), number))
                    latest.add(number)
            bridged = [sample.exemplar.labels for sample in families["bridged_jobs"].samples if sample.exemplar]
            return len(latest) >= 20 and len(found) == 3 and bridged == [{"trace_id": "from the library"}]

        eventually(shown, 60, "the exemplars are shown and change", 0.02)
        plain = self.get("/metrics")
        self.assertNotIn("trace_id", plain)
        self.assertNotIn(" # ", plain)
        self.assertEqual(re.findall(r'^pingloom_collector_exemplars_left_out\{reason="malformed"\} (.*)$',
                                    self.get("/metrics", accept="application/openmetrics-text"), re.M), ["0"])


class Stored(PushCase):
    """A real Prometheus stores them."""

    def stored(self, query):
        """The exemplars of a query: [(labels of the series, labels, value)]."""
        asked = urllib.parse.urlencode({"query": query, "start": time.time() - 300, "end": time.time() + 300})
        url = f"http://127.0.0.1:{self.prometheus_port}/api/v1/query_exemplars?{asked}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            found = json.load(answer)["data"]
        return [(series["seriesLabels"], exemplar["labels"], float(exemplar["value"]))
                for series in found for exemplar in series["exemplars"]]

    def check(self, bucket, till=TILL):
        self.run_one("slow", "/usr/bin/python3", "-B", "-c", SLOW, environment=self.environment())
        eventually(lambda: self.stored(bucket) and self.stored("jobs_total"), 60, "Prometheus has both", 0.5)
        labels = {"trace_id": TRACE, "span_id": SPAN, "till": till}
        ((series, found, value),) = self.stored("jobs_total")
        self.assertEqual((series["application"], found, value), ("slow", labels, 4))
        ((series, found, value),) = self.stored(bucket)
        self.assertEqual((series["application"], found, value), ("slow", labels, 0.003))
        return series

    def scraping(self, *features):
        self.start_agent(1)
        self.start_collector(agents=[1])
        self.start_prometheus("--enable-feature=" + ",".join(("exemplar-storage", *features)),
                              scrapes="scrape_configs: [{ job_name: c, static_configs: "
                              f"[{{ targets: ['{self.urls['collector'].removeprefix('http://')}'] }}] }}]\n")

    def test_scraped_as_openmetrics(self):
        self.scraping()
        # Prometheus 2.42 finds the end of an escaped value, and keeps its backslashes.
        self.assertEqual(self.check("job_seconds_bucket", TILL.replace("\\", r"\\").replace('"', r'\"'))["le"], "0.004194304")

    def test_scraped_with_native_histograms(self):
        self.scraping("native-histograms")
        self.assertNotIn("le", self.check("job_seconds"))

    def test_pushed_by_remote_write(self):
        self.start_agent(1)
        self.start_prometheus("--enable-feature=exemplar-storage", "--web.enable-remote-write-receiver")
        self.start_collector(agents=[1], settings="name: dpu-1\npush: { remote_write: { url: http://127.0.0.1:"
                                                  f"{self.prometheus_port}/api/v1/write, interval: 1s }} }}")
        self.assertEqual(self.check("job_seconds_bucket")["le"], "0.004194304")


class OpenTelemetry(ReceiverCase):
    """The field numbers are those of opentelemetry-proto 1.x."""

    def exemplars(self):
        """The exemplars in the last push: {name: message}."""
        found = {}
        for *_, body in self.receiver.answered(200):
            for number, metric in fields(one(gzip.decompress(body), 1, 2)):
                if number != 2:
                    continue
                ((kind, data),) = [field for field in fields(metric) if field[0] in (5, 7, 9, 11)]
                where = 8 if kind == 9 else 5  # of a HistogramDataPoint, of a NumberDataPoint
                points = [point for field, point in fields(data) if field == 1] if kind in (7, 9) else []
                for exemplar in (value for point in points for field, value in fields(point) if field == where and
                                 (kind == 9 or isinstance(value, bytes))):
                    found[one(metric, 1).decode()] = exemplar
        return found

    def test_a_receiver_reads_them(self):
        self.start_pushing("otlp", TOKEN)
        self.receiver.status = 200
        self.run_one("slow", "/usr/bin/python3", "-B", "-c", SLOW, environment=self.environment())
        eventually(lambda: self.exemplars().keys() == {"job_seconds", "jobs_total"}, 60, "both are pushed", 0.5)
        for name, value in (("job_seconds", 0.003), ("jobs_total", 4)):
            exemplar = self.exemplars()[name]
            self.assertEqual(doubles(one(exemplar, 3)), [value])
            self.assertEqual((one(exemplar, 5).hex(), one(exemplar, 4).hex()), (TRACE, SPAN))
            self.assertEqual(attributes(exemplar, 7), {"till": TILL})
            self.assertLess(abs(int.from_bytes(one(exemplar, 2), "little") / 1e9 - time.time()), 60)


if __name__ == "__main__":
    unittest.main()
