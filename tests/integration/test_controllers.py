"""Several controllers that share a history in PostgreSQL: who leads, what a paused one commits, and each window once."""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import history
from mesh import Mesh, free_port, parse_metrics
from postgres import Postgres
from processes import binary, eventually


class Controller:
    """One of several controllers of a mesh, each with a Redis and a folder of its own."""

    def __init__(self, mesh, name, server):
        self.mesh = mesh
        self.name = name
        self.control_port = free_port()
        self.http_port = free_port()
        self.config = mesh.directory / f"controller-{name}.yaml"
        self.config.write_text(f"""pinglist: {mesh.pinglist_path}
control: {mesh.home}:{self.control_port}
http: {mesh.home}:{self.http_port}
state_dir: {mesh.directory}/{name}
redis_socket: {mesh.directory}/redis-{name}.sock
insecure: true
history: {{ postgres: {{ hosts: [{server.folder}] }} }}
cluster: {{ name: {name}, address: {self.address} }}
""")
        self.process = None

    @property
    def address(self):
        return f"{self.mesh.home}:{self.control_port}"

    def start(self, wait=True):
        self.process = self.mesh.run(f"controller-{self.name}", binary("pingloom-controller"), "--config", str(self.config))
        if wait:
            eventually(lambda: self.get("/healthz").status == 200, 20, f"controller {self.name} answers HTTP")
        return self

    def get(self, path):
        return self.mesh.get(path, port=self.http_port)

    def role(self):
        return self.get("/api/v1/controllers").json()["role"]

    def leader(self):
        return next((one["name"] for one in self.get("/api/v1/controllers").json()["controllers"] if one["leader"]), None)

    def metrics(self):
        return parse_metrics(self.get("/metrics").body)


class SharedHistory(unittest.TestCase):
    def setUp(self):
        # The path of a Unix socket has to be short.
        folder = tempfile.TemporaryDirectory(prefix="pg-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o711)
        self.server = Postgres(self.folder / "a").create().start()
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.kill())
        self.server.sql("CREATE DATABASE pingloom")
        self.server.sql("CREATE ROLE pingloom LOGIN")

    def sql(self, statement):
        return self.server.sql(statement, "pingloom")

    def mesh(self, hosts):
        mesh = Mesh(self, hosts=hosts, interval="100ms", window="1s")
        mesh.postgres = self.server
        config = mesh.directory / "owner.yaml"
        config.write_text(f"pinglist: p\nstate_dir: s\nhistory: {{ postgres: {{ hosts: [{self.server.folder}], user: postgres }} }}\n")
        done = subprocess.run([binary("pingloom-controller"), "--config", config, "--init-history"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO pingloom")
        return mesh

    def controllers(self, mesh, *names):
        made = [Controller(mesh, name, self.server).start() for name in names]
        eventually(lambda: all(len(one.get("/api/v1/controllers").json()["controllers"]) == len(names) and one.leader()
                               for one in made), 20, "the controllers see each other and a leader")
        self.assertEqual(len({one.leader() for one in made}), 1)
        return made

    def delivered(self, mesh):
        return all(mesh.agent_metrics(index)["pingloom_agent_spool_batches"] == 0
                   and mesh.agent_metrics(index)["pingloom_agent_controller_connected"] == 1 for index in mesh.agents)

    def check_history(self, mesh, at_least):
        for source in mesh.addresses:
            history.assert_contiguous(self, mesh, "udp", source, at_least)

    def mark(self, host):
        return self.sql(f"SELECT incarnation, sequence FROM agents WHERE host = '{host}'")

    def test_a_paused_leader_is_replaced_and_commits_nothing_when_it_wakes(self):
        mesh = self.mesh(2)
        both = self.controllers(mesh, "a", "b")
        leader = next(one for one in both if one.role() == "leader")
        other = next(one for one in both if one is not leader)
        self.assertEqual(other.role(), "follower")
        self.assertEqual(other.get("/readyz").json()["role"], "follower")
        for index, controller in enumerate((leader, other)):
            mesh.agent_options[index] = {"controller": controller.address}
            mesh.start_agent(index)
        eventually(lambda: self.mark("host-0") and self.mark("host-1"), 40, "both commit")
        shown = mesh.cli("controllers", "--url", f"http://{mesh.home}:{other.http_port}")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"(?m)^{leader.name} +leader +\d+ ")
        eventually(lambda: [one["agents"] for one in other.get("/api/v1/controllers").json()["controllers"]] == [1, 1],
                   20, "each has told its agents")

        leader.process.signal(signal.SIGSTOP)
        eventually(lambda: other.role() == "leader", 20, "the other one leads")
        held = self.mark("host-0")
        before = self.mark("host-1")
        eventually(lambda: self.mark("host-1") != before, 20, "the other one commits")
        # Somebody else has the name meanwhile, so that it cannot join again.
        self.sql(f"INSERT INTO pingloom_controllers SELECT 1000, '{leader.name}', 'x:1', 'x:2', 0, 0, max(lease_until_ns) + 10^12 "
                 "FROM pingloom_controllers")
        eventually(lambda: mesh.agent_metrics(0)["pingloom_agent_spool_batches"] >= 3, 40, "its agent spools")
        leader.process.signal(signal.SIGCONT)
        eventually(lambda: leader.metrics()["pingloom_controller_cluster_sessions_lost_total"] == 1, 20, "it notices")
        eventually(lambda: "history cannot be written" in leader.process.log(), 20, "and has tried to commit")
        ready = leader.get("/readyz")
        self.assertEqual((ready.status, ready.json()["role"]), (503, "outside"))
        self.assertIn(f"has the name '{leader.name}' already", ready.body)
        self.assertEqual(self.mark("host-0"), held, "it has committed nothing")
        shown = mesh.cli("controllers", "--url", f"http://{mesh.home}:{leader.http_port}")
        self.assertEqual(shown.returncode, 1, shown.stdout)

        self.sql("DELETE FROM pingloom_controllers WHERE session = 1000")
        eventually(lambda: leader.role() == "follower", 20, "it joins again")
        eventually(lambda: self.delivered(mesh), 60, "the spools are delivered")
        self.check_history(mesh, 10)
        self.assertEqual({one.leader() for one in both}, {other.name})

        # An orderly end is no lapse: the next one leads at once, and an agent that moves is counted once.
        self.assertEqual(other.process.stop(), 0)
        eventually(lambda: leader.role() == "leader", 10, "the first one leads again")
        mesh.agents[1].stop()
        mesh.agent_options[1] = {"controller": leader.address}
        mesh.start_agent(1)
        moved = self.mark("host-1")
        eventually(lambda: self.mark("host-1") > moved and self.delivered(mesh), 60, "its agent goes on with the other one")
        eventually(lambda: len(history.windows(mesh, "udp", mesh.addresses[1])) > 5, 20, "windows of both")

    def test_what_does_not_fit_is_refused_by_name(self):
        mesh = self.mesh(2)
        first = self.controllers(mesh, "a")[0]
        twin = Controller(mesh, "twin", self.server)
        twin.config.write_text(twin.config.read_text().replace("name: twin", "name: a"))
        for config, reason in ((twin.config.read_text(), "has the name 'a' already"),
                               ("\n".join(line for line in twin.config.read_text().splitlines() if not line.startswith("cluster:")),
                                "another controller writes this history")):
            twin.config.write_text(config + "\n")
            twin.start(wait=False)
            eventually(lambda: not twin.process.running(), 30, "it ends")
            self.assertIn(reason, twin.process.log())
        self.assertEqual(first.role(), "leader")
        self.assertEqual(self.sql("SELECT name FROM pingloom_controllers"), ["a"])


if __name__ == "__main__":
    unittest.main()
