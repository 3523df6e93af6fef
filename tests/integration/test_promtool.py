"""promtool accepts the metrics of every daemon: agent, controller, collector, translator, and the pages that a collector exposes, and
docs/metrics.md explains each of them. The shipped alerts fire when they should."""

import gzip
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

from mesh import ROOT, Mesh, free_port
from pages_hosts import pages_address, pages_socket
from processes import binary, eventually

# These are shown only with keys, targets for alerts or system metrics, which this mesh does not have.
ELSEWHERE = re.compile("pingloom_alerts_|pingloom_(system|cgroup)_|pingloom_controller_(authorized_keys|keys_waiting|joins_total|cluster_.*)|.*_peers_refused_total$")


WAITS = """import time, pingloom_pages
pages = pingloom_pages.Pages("waits")
pages.summary("lab_wait_seconds", (0.5, 0.99), "How long.").set(8, 2.5, (0.25, float("nan")))
pages.summary("lab_rest_seconds", (), "How long.")
time.sleep(600)
"""


class Rules(unittest.TestCase):
    def test_alerts(self):
        rules = pathlib.Path(__file__).with_name("rules_test.yml")
        done = subprocess.run(["promtool", "test", "rules", str(rules)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Promtool(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2, protocols=("udp", "tcp", "rdma"))
        subnet, directory = self.mesh.subnet, self.mesh.directory
        self.pages = pages_address(subnet, 1)
        self.socket = pages_socket(directory, 1)
        reports = free_port()
        self.mesh.agent_options[0] = {"pages": f"{{ address: {self.pages}, device: soft, socket: {self.socket} }}",
                                      "events": f"{{ translator: '127.0.0.1:{reports}', table: 2 }}"}
        self.mesh.start()
        self.collector_port = free_port()
        config = directory / "collector.yaml"
        config.write_text(f"address: {subnet}.200\ndevice: soft\nagents: [{self.pages}]\ninterval: 50ms\nanalytics:\n"
                          f"state_dir: {directory}/collector\n"
                          "push: { remote_write: { url: 'http://127.0.0.1:9/write' } }\n"
                          f"http: {self.pages}:{self.collector_port}\n"
                          f"stores: [{{ translator: t, file: {directory}/t.store, tables: [\n"
                          "  { name: latest, id: 1, kind: keyed, slots: 100, value: 8, watch: ['text:a \"b\"', u32:7] },\n"
                          "  { name: events, id: 2, kind: lists, blocks: 4, entry: 8 },\n"
                          "  { name: votes, id: 3, kind: counters, counters: 100, watch: [u32:7] }] }]\n")
        self.mesh.run("collector", binary("pingloom-collector"), "--config", str(config))
        self.translator_port = free_port()
        config = directory / "translator.yaml"
        config.write_text(f"address: {subnet}.201\ndevice: soft\nname: t\ncollector: {subnet}.200\n"
                          f"listen: 127.0.0.1:{reports}\nhttp: {subnet}.201:{self.translator_port}\n")
        self.mesh.run("translator", binary("pingloom-translator"), "--config", str(config))
        environment = {"PINGLOOM_PAGES_SOCKET": str(self.socket)}
        self.mesh.run("writer", binary("pages_writer"), "1000", "2", "600", "1", environment=environment)
        environment |= {"PYTHONPATH": str(ROOT / "python"),
                        "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1] / "lib/libpingloom-pages.so")}
        self.mesh.run("waits", sys.executable, "-B", "-c", WAITS, environment=environment)

    def collector(self, path="/metrics"):
        return self.mesh.get(path, port=self.collector_port, address=self.pages).body

    def accepted(self, text):
        if isinstance(text, bytes):
            text = text.decode()
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""), text[:3000])

    def test_every_exposition_is_accepted(self):
        self.mesh.wait_for_rows("rdma")
        wanted = ("pingloom_ping_network_seconds", "lab_writes", "lab_wait_seconds_sum", "lab_rest_seconds_count", "pingloom_collector_read_latency_seconds",
                  'pingloom_collector_store_slots{translator="t",table="latest"}')
        eventually(lambda: all(name in str(self.collector()) for name in wanted), 60, f"the collector shows {wanted}")
        agents = [self.mesh.get("/metrics", port=self.mesh.agent_http_port, address=address).body
                  for address in self.mesh.addresses]
        translator = self.mesh.get("/metrics", port=self.translator_port, address=f"{self.mesh.subnet}.201").body
        expositions = [self.collector(), self.mesh.get("/metrics").body, translator, *agents]
        for text in [*expositions, self.collector("/metrics/adaptive")]:
            self.accepted(text)
        self.documented("".join(map(str, expositions)))
        places = [(self.pages, self.collector_port), (self.mesh.home, self.mesh.http_port),
                  (f"{self.mesh.subnet}.201", self.translator_port), (self.mesh.addresses[0], self.mesh.agent_http_port)]
        for address, port in places:
            self.accepted(self.compressed(f"http://{address}:{port}/metrics"))

    def compressed(self, url):
        request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            self.assertEqual(answer.headers["Content-Encoding"], "gzip", url)
            body = answer.read()
        text = gzip.decompress(body)
        print(f"{url}: {len(text)} bytes as {len(body)}")
        return text

    def documented(self, text):
        shown = {name for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE) if not name.startswith("lab_")}
        page = (ROOT / "docs/metrics.md").read_text()
        named = set(re.findall(r"`((?:pingloom|process)_[a-z0-9_]+)[`{]", page))
        self.assertEqual(shown - named, set(), "docs/metrics.md does not explain these")
        self.assertEqual({name for name in named - shown if not ELSEWHERE.match(name)}, set(), "nobody shows these")


if __name__ == "__main__":
    unittest.main()
