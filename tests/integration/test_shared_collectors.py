"""Several controllers that share a history: each shows what a collector reads, whichever of them it has registered with."""

import http.server
import json
import sys
import threading
import unittest

from controllers import Controller
from mesh import Mesh, free_port
from pages_hosts import pages_address, pages_socket, python_pages
from postgres import initialise
from postgres import serve as serve_database
from processes import binary, eventually

QUEUE = """import time, pingloom_pages
depth = pingloom_pages.Pages("queue").gauge("queue_depth")
while True:
    depth.set(500.0)
    time.sleep(0.05)
"""
GONE_SECONDS = 20


def serve(case, answers, tokens=None):
    """The URL of a collector that answers each of these paths with its document. `tokens`: those that it wants, and a set of
    those that it has seen."""
    wanted, seen = tokens or (None, set())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            seen.add(token)
            allowed = wanted is None or token in wanted
            body = json.dumps(answers[self.path] if allowed else {"error": {"reason": "who are you?"}}).encode()
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer((f"{case.mesh.subnet}.201", free_port()), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    case.addCleanup(lambda: (server.shutdown(), thread.join(), server.server_close()))
    return f"http://{server.server_address[0]}:{server.server_address[1]}"


def ask(controller, method, path, document=None, token=None):
    """The status and the document of the answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = controller.mesh.ask_http(method, path, controller.http_port, controller.home, json.dumps(document), headers)
    return answer.status, answer.json()


def register(controller, url, token=None):
    return ask(controller, "POST", "/api/v1/collectors", {"name": "dpu-2", "url": url}, token)[0]


class SharedCollectors(unittest.TestCase):
    def setUp(self):
        _, server = serve_database(self, "a", "b", "c")
        self.mesh = Mesh(self, hosts=2)
        initialise(self, server, self.mesh.directory, "a", "b", "c")
        self.controllers = [Controller(self.mesh, name, [str(server.folder)]) for name in "abc"]
        for one in self.controllers:
            one.start()
        eventually(lambda: all(len(one.get("/api/v1/controllers").json()["controllers"]) == 3 for one in self.controllers), 20,
                   "the controllers see each other")
        socket = pages_socket(self.mesh.directory, 0)
        addresses = {"controller": f"[{', '.join(one.address for one in self.controllers)}]"}
        self.mesh.agent_options[1] = addresses
        self.mesh.agent_options[0] = addresses | {
            "pages": json.dumps({"address": pages_address(self.mesh.subnet, 0), "device": "soft", "socket": str(socket)})}
        self.mesh.start_agent(0)
        self.application = self.mesh.run("queue", sys.executable, "-B", "-c", QUEUE, environment=python_pages(socket))
        self.home = f"{self.mesh.subnet}.200:{free_port()}"

    def start_collector(self, *controllers):
        path = self.mesh.directory / "collector.yaml"
        path.write_text(f"""name: dpu-1
address: {self.mesh.subnet}.200
device: soft
controller: [{', '.join(f"'http://{one.home}:{one.http_port}'" for one in controllers)}]
interval: 20ms
http: {self.home}
analytics: {{ interval: 100ms, limits: [{{ metric: queue_depth, above: 100 }}] }}
""")
        return self.mesh.run("collector", binary("pingloom-collector"), "--config", str(path))

    @staticmethod
    def collector(controller):
        """What this controller says about the only collector: the controller that it has registered with, and whether it is
        alive."""
        known = controller.get("/api/v1/collectors").json()["collectors"]
        return [(one["url"], one["controller"], one["alive"]) for one in known]

    def shows(self, controller):
        """Whether it shows the application."""
        listed = controller.get("/api/v1/applications").json()["applications"]
        return ("host-0", "queue", self.application.pid) in {(one["host"], one["application"], one["pid"]) for one in listed}

    def test_every_controller_shows_what_a_collector_reads(self):
        a, b, c = self.controllers
        collector = self.start_collector(a, b)
        url = f"http://{self.home}"
        eventually(lambda: all(self.shows(one) for one in self.controllers), 60, "all controllers list the application")
        self.assertEqual(self.collector(a), [(url, None, True)])
        self.assertEqual(self.collector(b), [(url, "a", True)])
        self.assertEqual(self.collector(c), [(url, "a", True)])
        for one in self.controllers:
            event = eventually(lambda: one.get("/api/v1/anomalies?host=host-0").json()["events"], 30, "a limit is exceeded")[0]
            self.assertEqual((event["kind"], event["metric"], event["value"]), ("limit", "queue_depth", 500))
            [page] = [page for agent in one.get("/api/v1/applications/host-0").json()["agents"] for page in agent["pages"]
                      if page["application"] == "queue"]
            self.assertEqual([metric["value"] for metric in page["metrics"]], [500])

        # It goes to the next controller of its list, and nobody forgets it meanwhile.
        a.process.kill()

        def moved():
            for one in (b, c):
                self.assertTrue(self.shows(one), one.name)
                self.assertEqual([alive for _, _, alive in self.collector(one)], [True], one.name)
            return self.collector(b) == [(url, None, True)] and self.collector(c) == [(url, "b", True)]

        eventually(moved, GONE_SECONDS, "it has registered with the other controller")
        # One that starts again hears of it from the others.
        a.start()
        eventually(lambda: self.collector(a) == [(url, "b", True)] and self.shows(a), 30, "the first one shows it again")

        collector.kill()
        eventually(lambda: all(self.collector(one)[0][2] is False and not self.shows(one) for one in self.controllers),
                   2 * GONE_SECONDS, "it is gone for all controllers")

    def test_the_leader_takes_anomalies_of_a_followers_collector_as_evidence(self):
        eventually(lambda: self.controllers[0].leader(), 20, "a controller leads")
        leader = next(one for one in self.controllers if one.role() == "leader")
        follower = next(one for one in self.controllers if one is not leader)
        self.mesh.start_agent(1)
        eventually(lambda: {host["host"] for host in leader.get("/api/v1/hosts").json()["hosts"]} == {"host-0", "host-1"}, 30,
                   "the leader knows both agents")
        anomaly = {"metric": "step_seconds", "part": "p99", "statistic": "peers", "score": 4.5, "value": 2.0, "peers": 0.5}
        said = {"host": "host-1", "application": "trainer", "pid": 7, "owner": 1, "pages": 1, "metrics": 3, "state": "fresh",
                "anomalous": True, "score": 4.5, "deviation": anomaly}
        url = serve(self, {"/api/v1/applications": {"watched": True, "events": 0, "applications": [said]}})

        def registered():
            self.assertEqual(register(follower, url), 200)
            return (url, follower.name, True) in self.collector(leader)

        eventually(registered, 30, "the leader knows the collector of the follower")
        self.mesh.agents[1].kill()

        def incident():
            register(follower, url)
            return next((one for one in leader.get("/api/v1/incidents").json()["open"] if one["anomalies"]), None)

        found = eventually(incident, 60, "the incident has the anomaly")
        self.assertEqual((found["kind"], found["culprit"]), ("agent", self.mesh.addresses[1]))
        self.assertEqual([(one["host"], one["application"], one["metric"]) for one in found["anomalies"]],
                         [("host-1", "trainer", "step_seconds")])

    def test_a_dead_controllers_registrations_expire(self):
        a, b, _ = self.controllers
        self.start_collector(a)
        eventually(lambda: self.shows(b), 60, "the other controller lists the application")
        a.process.kill()
        eventually(lambda: self.collector(b)[0][2] is False and not self.shows(b), 2 * GONE_SECONDS, "its collector is gone")
        self.assertEqual(self.collector(b), [(f"http://{self.home}", "a", False)])

class Tokens(unittest.TestCase):
    """A collector that wants a token of each controller, which has registered with the first one by a token."""
    COLLECT = "c" * 64

    def setUp(self):
        _, self.server = serve_database(self, "a", "b")
        self.mesh = Mesh(self, hosts=1)
        initialise(self, self.server, self.mesh.directory, "a", "b")

    def secret(self, name, text):
        path = self.mesh.directory / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path

    def start(self, keys):
        tokens = self.secret("tokens", f"collect {self.COLLECT}")
        made = [Controller(self.mesh, name, [str(self.server.folder)]) for name in "ab"]
        for one in made:
            own = self.secret(f"token-{one.name}", one.name * 64)
            one.options = {"http_access": f"{{ tokens: {tokens} }}", "collectors": f"{{ token: {own} }}"}
            one.configure()
            if keys:
                one.share_key()
            one.start()
        return made

    def shown(self, keys):
        """What the other controller says about the collector, once it has asked it, and the tokens that the collector has
        seen."""
        a, b = self.start(keys)
        seen = set()
        nothing = {"watched": True, "events": 0, "applications": []}
        url = serve(self, {"/api/v1/applications": nothing}, ({"a" * 64, "b" * 64}, seen))

        def asked():
            self.assertEqual(register(a, url, self.COLLECT), 200)
            known = ask(b, "GET", "/api/v1/collectors", token=self.COLLECT)[1]["collectors"]
            return next((one for one in known if one["answered"] or one["problem"]), None)

        return eventually(asked, 30, "the other controller has asked it"), seen

    def test_with_keys_each_controller_sends_its_token(self):
        known, seen = self.shown(keys=True)
        self.assertEqual((known["controller"], known["problem"]), ("a", None))
        self.assertEqual(seen, {"a" * 64, "b" * 64})

    def test_without_keys_only_the_one_that_it_has_registered_with_does(self):
        known, seen = self.shown(keys=False)
        self.assertEqual((known["controller"], known["answered"]), ("a", None))
        self.assertIn("requires a token", known["problem"])
        self.assertEqual(seen, {"a" * 64, ""})


if __name__ == "__main__":
    unittest.main()
