"""promtool accepts the metrics of every daemon: agent, controller, collector, and the pages that a collector exposes. The
shipped alerts fire when they should."""

import pathlib
import subprocess
import unittest

from mesh import Mesh, free_port
from pages_hosts import pages_address, pages_socket
from processes import binary, eventually


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
        self.mesh.agent_options[0] = {"pages": f"{{ address: {self.pages}, device: soft, socket: {self.socket} }}"}
        self.mesh.start()
        self.collector_port = free_port()
        config = directory / "collector.yaml"
        config.write_text(f"address: {subnet}.200\ndevice: soft\nagents: [{self.pages}]\ninterval: 50ms\nanalytics:\n"
                          f"http: {self.pages}:{self.collector_port}\n")
        self.mesh.run("collector", binary("pingloom-collector"), "--config", str(config))
        self.mesh.run("writer", binary("pages_writer"), "1000", "2", "600", "1",
                      environment={"PINGLOOM_PAGES_SOCKET": str(self.socket)})

    def collector(self, path="/metrics"):
        return self.mesh.get(path, port=self.collector_port, address=self.pages).body

    def accepted(self, text):
        if isinstance(text, bytes):
            text = text.decode()
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""), text[:3000])

    def test_every_exposition_is_accepted(self):
        self.mesh.wait_for_rows("rdma")
        wanted = ("pingloom_ping_network_seconds", "lab_writes", "pingloom_collector_read_latency_seconds")
        eventually(lambda: all(name in str(self.collector()) for name in wanted), 60, f"the collector shows {wanted}")
        self.accepted(self.collector())
        self.accepted(self.collector("/metrics/adaptive"))
        self.accepted(self.mesh.get("/metrics").body)
        for index in (0, 1):
            self.accepted(self.mesh.get("/metrics", port=self.mesh.agent_http_port, address=self.mesh.addresses[index]).body)


if __name__ == "__main__":
    unittest.main()
