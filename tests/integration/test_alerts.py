"""A real controller tests its targets: a real Alertmanager, a webhook that refuses, a command, and a server that hangs.

What an incident does to targets is tested without a mesh, on a board (tests/unit/controller/alerts).
"""

import http.server
import json
import socket
import threading
import unittest

from mesh import Mesh, free_port
from processes import eventually


class Refusing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(403)
        self.end_headers()
        self.wfile.write(b"not you")

    def log_message(self, *_):
        pass


class Alerts(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2)
        home, folder = self.mesh.home, self.mesh.directory
        self.alertmanager_port = free_port()
        (folder / "alertmanager.yml").write_text("route: { receiver: none }\nreceivers: [{ name: none }]\n")
        self.mesh.run("alertmanager", "prometheus-alertmanager", f"--config.file={folder}/alertmanager.yml",
                      f"--storage.path={folder}/data", f"--web.listen-address={home}:{self.alertmanager_port}",
                      "--cluster.listen-address=")
        eventually(lambda: self.mesh.get("/-/ready", port=self.alertmanager_port).status == 200, 20,
                   "Alertmanager is ready")
        refusing = http.server.HTTPServer((home, 0), Refusing)
        threading.Thread(target=refusing.serve_forever, daemon=True).start()
        self.addCleanup(refusing.server_close)
        self.addCleanup(refusing.shutdown)
        self.silent = socket.create_server((home, 0))
        self.addCleanup(self.silent.close)
        targets = [
            {"name": "am", "kind": "alertmanager", "url": f"http://{home}:{self.alertmanager_port}"},
            {"name": "refuses", "kind": "webhook", "url": f"http://{home}:{refusing.server_port}/secret"},
            {"name": "run", "kind": "command", "argv": ["/bin/sh", "-c", f"cat >{folder}/got; echo paged"]},
            {"name": "silent", "kind": "slack", "url": f"http://{home}:{self.silent.getsockname()[1]}/x"},
        ]
        self.mesh.controller_options["alerts"] = json.dumps(targets)
        self.mesh.start_controller()

    def try_target(self, target):
        return self.mesh.cli("alerts", "test", "--url", self.mesh.url, target, timeout=60)

    def test_targets_can_be_tested(self):
        done = self.try_target("am")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("delivered, 200", done.stdout)
        alerts = self.mesh.get("/api/v2/alerts", port=self.alertmanager_port).json()
        self.assertEqual([alert["labels"]["alertname"] for alert in alerts], ["PingloomTest"])

        done = self.try_target("refuses")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("answered 403: not you", done.stdout)
        self.assertNotIn("secret", done.stdout)

        done = self.try_target("run")
        self.assertEqual((done.returncode, done.stdout), (0, "/bin/sh: delivered\n  paged\n"))
        document = json.loads((self.mesh.directory / "got").read_text())
        self.assertEqual((document["version"], document["receiver"]), ("4", "run"))

        done = self.try_target("nobody")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no target 'nobody'", done.stderr)

    def test_a_target_that_hangs_fails_in_time_and_delays_nobody(self):
        waiting = threading.Thread(target=lambda: setattr(self, "hung", self.try_target("silent")))
        waiting.start()
        self.assertEqual(self.try_target("run").returncode, 0)
        self.assertTrue(waiting.is_alive())
        waiting.join(40)
        self.assertEqual(self.hung.returncode, 1, self.hung.stdout)
        self.assertIn("timed out", self.hung.stdout)

    def test_the_targets_are_shown(self):
        listed = self.mesh.cli("alerts", "list", "--url", self.mesh.url)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertEqual([line.split()[:2] for line in listed.stdout.splitlines()[1:]],
                         [["am", "alertmanager"], ["refuses", "webhook"], ["run", "command"], ["silent", "slack"]])
        self.assertEqual([target["name"] for target in self.mesh.status()["alerts"]],
                         ["am", "refuses", "run", "silent"])
        self.assertIn('pingloom_alerts_waiting{target="am"} 0', self.mesh.get("/metrics").body)

    def test_the_end_waits_for_no_target(self):
        waiting = threading.Thread(target=self.try_target, args=("silent",))
        waiting.start()
        self.silent.settimeout(10)
        in_flight, _ = self.silent.accept()
        self.addCleanup(in_flight.close)
        self.assertEqual(self.mesh.controller.stop(5), 0)
        waiting.join(20)


if __name__ == "__main__":
    unittest.main()
