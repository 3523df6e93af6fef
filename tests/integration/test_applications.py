"""The applications of hosts at the controller: agents with pages, a collector that registers, and what the controller
passes on of it."""

import json
import signal
import sys
import unittest
import urllib.error
import urllib.request

from mesh import Mesh, free_port
from pages_hosts import pages_address, pages_socket, python_pages
from processes import binary, eventually

QUEUE = """import sys, time, pingloom_pages
pages = pingloom_pages.Pages("queue")
depth, done = pages.gauge("queue_depth"), pages.counter("jobs_total")
while True:
    depth.set(float(sys.argv[1]))
    done.add(1)
    time.sleep(0.05)
"""
GONE_SECONDS = 20


class Applications(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2)
        subnet, directory = self.mesh.subnet, self.mesh.directory
        for number in (0, 1):
            self.mesh.agent_options[number] = {"pages": json.dumps({
                "address": pages_address(subnet, number), "device": "soft", "socket": str(pages_socket(directory, number))})}
        self.mesh.start()
        self.url = f"http://{self.mesh.home}:{self.mesh.http_port}"
        self.home = f"{subnet}.200:{free_port()}"
        self.start_collector()

    def start_collector(self):
        path = self.mesh.directory / "collector.yaml"
        path.write_text(f"""name: dpu-1
address: {self.mesh.subnet}.200
device: soft
controller: {self.url}
interval: 20ms
http: {self.home}
analytics: {{ interval: 100ms, limits: [{{ metric: queue_depth, above: 100 }}] }}
""")
        self.collector = self.mesh.run("collector", binary("pingloom-collector"), "--config", str(path))

    def start_queue(self, host, depth):
        environment = python_pages(pages_socket(self.mesh.directory, host))
        return self.mesh.run(f"queue-{host}", sys.executable, "-B", "-c", QUEUE, str(depth), environment=environment)

    def ask(self, path, body=None):
        """The status and the document of an answer."""
        request = urllib.request.Request(self.url + path, data=None if body is None else json.dumps(body).encode(),
                                         headers={} if body is None else {"Content-Type": "application/json"})
        try:
            answer = urllib.request.urlopen(request, timeout=20)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            return answer.status, json.loads(answer.read())

    def collectors(self):
        return self.ask("/api/v1/collectors")[1]["collectors"]

    def applications(self):
        return {(each["host"], each["pid"]): each for each in self.ask("/api/v1/applications")[1]["applications"]
                if each["application"] == "queue"}

    def metrics_of(self, host, application):
        """The values of the application's metrics by name; None where they cannot be told."""
        status, document = self.ask(f"/api/v1/applications/{host}")
        if status != 200:
            return None
        return {metric["name"]: metric["value"] for agent in document["agents"] for page in agent["pages"]
                if page["application"] == application for metric in page["metrics"]}

    def test_what_a_collector_reads_is_at_the_controller(self):
        usual, full = self.start_queue(0, 5), self.start_queue(1, 500)
        both = {("host-0", usual.pid), ("host-1", full.pid)}
        eventually(lambda: self.applications().keys() == both, 90, "both applications are listed")
        [known] = self.collectors()
        self.assertEqual((known["name"], known["url"], known["alive"], known["watched"], known["problem"]),
                         ("dpu-1", f"http://{self.home}", True, True, None))
        first = eventually(lambda: self.metrics_of("host-0", "queue"), 30, "its values are passed on")
        self.assertEqual(first["queue_depth"], 5)
        eventually(lambda: self.metrics_of("host-0", "queue")["jobs_total"] > first["jobs_total"], 30, "they move")
        self.assertEqual(self.metrics_of("host-1", "queue")["queue_depth"], 500)
        event = eventually(lambda: self.ask("/api/v1/anomalies?host=host-1")[1]["events"], 60, "a limit is exceeded")[0]
        self.assertEqual((event["kind"], event["began"], event["application"], event["metric"], event["value"]),
                         ("limit", True, "queue", "queue_depth", 500))
        self.assertEqual(self.ask("/api/v1/anomalies?host=host-0")[1]["events"], [])
        eventually(lambda: self.applications()[("host-1", full.pid)]["anomalous"], 30, "it is anomalous")
        self.assertEqual(self.ask("/api/v1/applications/nobody")[0], 404)

        # One that is stopped delays its own answers only, and is gone after a while.
        self.collector.process.send_signal(signal.SIGSTOP)
        status, refusal = self.ask("/api/v1/applications/host-0")
        self.assertEqual(status, 503, refusal)
        self.assertIn("did not answer", refusal["error"]["reason"])
        eventually(lambda: not self.collectors()[0]["alive"], 2 * GONE_SECONDS, "it is gone")
        self.assertEqual(self.applications(), {})
        self.assertEqual(self.ask("/api/v1/applications/host-0")[0], 404)
        self.collector.process.send_signal(signal.SIGCONT)
        eventually(lambda: self.applications().keys() == both, 60, "it is back")

    def test_registrations_are_checked(self):
        eventually(self.collectors, 60, "the collector registers")
        for body, words in (({"name": "x", "url": "http://192.0.2.1:80"}, "can only register the address"),
                            ({"name": "x", "url": "http://controller:80"}, "'url' must be"),
                            ({"name": "", "url": f"http://{self.home}"}, "'name' must"),
                            ({"name": "x"}, "the body must be"), ([], "the body must be")):
            status, refusal = self.ask("/api/v1/collectors", body)
            self.assertEqual(status, 400, body)
            self.assertIn(words, refusal["error"]["reason"])
        self.assertEqual(len(self.collectors()), 1)
        text = self.mesh.get("/metrics").body
        for line in ('pingloom_controller_collectors{state="alive"} 1',
                     'pingloom_controller_collector_registrations_refused_total{reason="address"} 1',
                     'pingloom_controller_collector_registrations_refused_total{reason="malformed"} 4'):
            self.assertIn(line, text if isinstance(text, str) else text.decode())


if __name__ == "__main__":
    unittest.main()
