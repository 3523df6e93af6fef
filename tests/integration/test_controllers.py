"""Several controllers that share a history in PostgreSQL: who leads, what a paused one commits, and each window once."""

import ipaddress
import json
import signal
import unittest

import history
from controllers import Controller, home_weight
from mesh import Mesh
from postgres import initialise, serve
from processes import eventually
from redis_cluster import RedisCluster, latest_key

SLOW = "{ device: soft, impair: [{ delay: 2ms, jitter: 500us }] }"


class SharedHistory(unittest.TestCase):
    def setUp(self):
        # A role each, so that the database knows who has written.
        self.folder, self.server = serve(self, "a", "b", "twin")

    def sql(self, statement):
        return self.server.sql(statement, "pingloom")

    def mesh(self, hosts, **options):
        mesh = Mesh(self, hosts=hosts, interval="100ms", window="1s", **options)
        mesh.postgres = self.server
        initialise(self, self.server, mesh.directory, "a", "b", "twin")
        self.sql("ALTER TABLE blocks ADD COLUMN writer TEXT NOT NULL DEFAULT current_user")
        return mesh

    def controllers(self, mesh, *names, homes=None, redis=None, prepare=None):
        """`homes`: which of them is the home of which host. `prepare` is called with them before they start."""
        made = [Controller(mesh, name, [str(self.server.folder)], redis) for name in names]
        while any(self.home_of(host, made).name != name for host, name in (homes or {}).items()):
            for one in made:
                one.move()
        if prepare:
            prepare(made)
        for one in made:
            one.start()
        eventually(lambda: all(len(one.get("/api/v1/controllers").json()["controllers"]) == len(names) and one.leader()
                               for one in made), 20, "the controllers see each other and a leader")
        self.assertEqual(len({one.leader() for one in made}), 1)
        return made

    @staticmethod
    def home_of(host, controllers):
        return max(controllers, key=lambda one: home_weight(host, one.address))

    def check_history(self, mesh, per_window=10):
        for source in mesh.addresses:
            history.assert_contiguous(self, mesh, "udp", source, per_window)

    def mark(self, host):
        return self.sql(f"SELECT incarnation, sequence FROM agents WHERE host = '{host}'")

    def test_a_paused_leader_is_replaced_and_commits_nothing_when_it_wakes(self):
        mesh = self.mesh(2)
        leader, other = both = self.controllers(mesh, "a", "b", homes={"host-0": "a", "host-1": "b"})
        self.assertEqual((leader.role(), other.role()), ("leader", "follower"))
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
        last = self.sql("SELECT max(id) FROM blocks")[0]
        written = "SELECT count(*) FROM blocks WHERE writer = '{}' AND id > {}"
        eventually(lambda: self.sql(written.format("b", last)) != ["0"], 20, "the other one commits")
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
        self.assertEqual(self.sql(written.format("a", last)), ["0"], "it has committed nothing")
        shown = mesh.cli("controllers", "--url", f"http://{mesh.home}:{leader.http_port}")
        self.assertEqual(shown.returncode, 1, shown.stdout)

        self.sql("DELETE FROM pingloom_controllers WHERE session = 1000")
        eventually(lambda: leader.role() == "follower", 20, "it joins again")
        eventually(lambda: mesh.delivered(), 60, "the spools are delivered")
        self.check_history(mesh)
        self.assertEqual({one.leader() for one in both}, {other.name})

        # An orderly end is no lapse: the next one leads at once, and an agent that moves is counted once.
        self.assertEqual(other.process.stop(), 0)
        eventually(lambda: leader.role() == "leader", 10, "the first one leads again")
        mesh.agents[1].stop()
        mesh.agent_options[1] = {"controller": leader.address}
        mesh.start_agent(1)
        moved = self.mark("host-1")
        eventually(lambda: self.mark("host-1") > moved and mesh.delivered(), 60, "its agent goes on with the other one")
        eventually(lambda: len(history.windows(mesh, "udp", mesh.addresses[1])) > 5, 20, "windows of both")

    @staticmethod
    def states(mesh, controller, probe, index):
        """The states of the pairs of one source."""
        grid = controller.get(f"/api/v1/grid?probe={probe}&metric=network_p50").json()
        row = grid["states"][grid["sources"].index(mesh.addresses[index])]
        return {state for state in row if state is not None}

    def check_both_show_all(self, mesh, both, protocols=("udp", "rdma")):
        """Any controller shows each pair and each agent, and says which agents are the other one's."""
        for one in both:
            eventually(lambda: all(self.states(mesh, one, probe, index) == {"ok"} for probe in protocols
                                   for index in mesh.agents), 40, f"{one.name} shows each pair")
            eventually(lambda: [(host["host"], host["alive"]) for host in one.get("/api/v1/hosts").json()["hosts"]]
                       == [(f"host-{index}", True) for index in sorted(mesh.agents)], 20, f"{one.name} knows each agent")
            eventually(lambda: all(member["shown"] for member in one.get("/api/v1/controllers").json()["controllers"]), 20,
                       f"{one.name} says that it shows the agents of both")
        named = {host["controller"] for one in both for host in one.get("/api/v1/hosts").json()["hosts"]}
        self.assertEqual(named - {None}, {one.name for one in both if self.own(one)})

    def check_bursts(self, mesh, both, probe):
        """Any controller orders bursts of each agent, and has their results within a few seconds."""
        for one in both:
            for index in sorted(mesh.agents):
                source, destination = mesh.addresses[index], mesh.addresses[index - 1]
                answer = one.post("/api/v1/bursts", {"probe": probe, "source": source, "destination": destination, "count": 3,
                                                     "interval_ns": 10_000_000})
                self.assertEqual(answer.status, 202, answer.body)
                path = f"/api/v1/bursts/{answer.json()['id']}"
                eventually(lambda: one.get(path).json()["state"] != "running", 20, "the burst is over", interval=0.05)
                burst = one.get(path).json()
                self.assertEqual((burst["state"], burst["reason"], burst["agent"]), ("done", None, f"host-{index}"))
                self.assertEqual([ping["result"] for ping in burst["pings"]], ["received"] * 3)

    @staticmethod
    def own(controller):
        return [host for host in controller.get("/api/v1/hosts").json()["hosts"] if host["controller"] is None]

    def test_agents_of_a_killed_controller_go_to_the_other_one(self):
        mesh = self.mesh(3, protocols=("udp", "rdma"))
        both = self.controllers(mesh, "a", "b")
        for index in range(3):
            mesh.agent_options[index] = {"controller": "[" + ", ".join(one.address for one in both) + "]"}
            mesh.start_agent(index)

        def homes():
            return {host["host"]: one for one in both if one.process.running()
                    for host in one.get("/api/v1/hosts").json()["hosts"] if host["alive"] and host["controller"] is None}

        eventually(lambda: len(homes()) == 3 and all(self.mark(f"host-{index}") for index in range(3)), 60, "all are home and commit")
        before = homes()
        killed = before["host-0"]
        other = next(one for one in both if one is not killed)
        # Endpoints reach the agents of the other controller, so rdma probes have results everywhere.
        eventually(lambda: all(self.states(mesh, before[f"host-{index}"], "rdma", index) == {"ok"} for index in range(3)), 40,
                   "each agent has results of all by RDMA")
        self.check_both_show_all(mesh, both)
        self.check_bursts(mesh, both, "rdma")
        killed.process.kill()
        eventually(lambda: len(homes()) == 3, 40, "all are home again")
        self.assertEqual(set(homes().values()), {other})
        eventually(lambda: other.role() == "leader", 20, "it leads")
        eventually(lambda: mesh.delivered(), 60, "the spools are delivered")
        self.check_history(mesh)

        killed.start()
        eventually(lambda: homes() == before, 60, "those that belong there are sent back")
        self.assertGreaterEqual(other.metrics()["pingloom_controller_cluster_agents_sent_away_total"], 1)
        self.check_both_show_all(mesh, both)
        eventually(lambda: mesh.delivered(), 60, "and go on")
        self.check_history(mesh)

    def test_one_redis_for_all_controllers(self):
        mesh = self.mesh(3)
        mesh.start_redis()
        self.check_one_redis(mesh, f"unix:{mesh.redis_socket}", lambda key: mesh.ask_redis)

    def test_one_redis_cluster_for_all_controllers(self):
        mesh = self.mesh(3)
        cluster = RedisCluster(mesh)
        self.check_one_redis(mesh, cluster.option(), cluster.master_of)

    def check_one_redis(self, mesh, redis, place_of):
        """`place_of`: returns what asks the server that has a key."""
        place_of("pingloom:probes")("SADD", "pingloom:probes", "left")
        homes = {"host-0": "a", "host-1": "b", "host-2": "b"}
        leader, other = both = self.controllers(mesh, "a", "b", homes=homes, redis=redis)
        for index in range(3):
            mesh.agent_options[index] = {"controller": "[" + ", ".join(one.address for one in both) + "]"}
            mesh.start_agent(index)
        pairs = mesh.pairs()

        def ask(command, key, *words):
            return place_of(key)(command, key, *words)

        def rows():
            flat = {source: ask("HGETALL", latest_key(source)) for source in ask("SMEMBERS", "pingloom:sources:udp")}
            return {(source, destination): json.loads(row) for source, fields in flat.items()
                    for destination, row in zip(fields[::2], fields[1::2])}

        def complete(since=""):
            """Whether Redis has a good row of each pair that begins later."""
            found = rows()
            return set(found) == pairs and all(row["state"] == "ok" and row["start"] > since for row in found.values())

        def newest():
            return max(row["end"] for row in rows().values())

        def events():
            return [dict(zip(fields[::2], fields[1::2])) for _, fields in ask("XRANGE", "pingloom:events", "-", "+")]

        def first_changes():
            return sorted((event["source"], event["destination"]) for event in events() if event.get("from") == "pending")

        eventually(complete, 40, "the rows of all pairs are in Redis")
        eventually(lambda: ask("SMEMBERS", "pingloom:probes") == ["udp"], 20, "the leader removes what was left")

        self.check_both_show_all(mesh, both, ("udp",))
        eventually(lambda: set(first_changes()) == pairs, 20, "each pair's first change is there")
        self.assertEqual(first_changes(), sorted(pairs), "once")
        eventually(lambda: all(one.get("/api/v1/status").json()["redis"]["rows_written"] for one in both), 20, "each writes its own")

        # The leader alone tells of incidents, also when it is not the agent's home.
        mesh.agents[2].kill()
        eventually(lambda: any(mesh.addresses[2] in sentence for sentence in ask("HVALS", "pingloom:incidents:open")), 60,
                   "an incident about the agent that is gone")
        opened = [event["culprit"] for event in events() if event.get("change") == "opened" and event["kind"] == "agent"]
        self.assertEqual(opened.count(mesh.addresses[2]), 1, f"it is told once: {opened}")
        mesh.start_agent(2)
        eventually(complete, 40, "it is back")

        killed, since = leader, newest()
        killed.process.kill()
        eventually(lambda: len(self.own(other)) == 3 and complete(since), 40, "the rows of all pairs go on")
        killed.start()
        eventually(lambda: len(self.own(killed)) == 1, 60, "the agent of the first one is sent back")
        since = newest()
        eventually(lambda: complete(since), 40, "and its rows go on")

    @staticmethod
    def share_a_key(controllers):
        for one in controllers:
            one.share_key()

    def test_a_host_that_joins_at_one_is_known_to_all(self):
        mesh = self.mesh(2)
        both = a, b = self.controllers(mesh, "a", "b", homes={"host-0": "b", "host-1": "a"}, prepare=self.share_a_key)

        def keys(*arguments):
            done = mesh.cli("keys", *map(str, arguments))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout.strip()

        def listed(one):
            return {key["host"] for key in json.loads(keys("list", "--config", one.config, "--json"))["keys"]}

        # The token comes from one controller, and each host joins at the one that is not its home.
        token = keys("token", "create", "--config", a.config)
        eventually(lambda: keys("token", "list", "--config", b.config, "--json") == keys("token", "list", "--config", a.config, "--json"),
                   20, "both know the token")
        for index, one in enumerate(both):
            mesh.agent_options[index] = {"controller": one.address}
            path = mesh.write_agent_config(index)
            line = keys("join", "--config", path, "--key", mesh.directory / f"host-{index}.key", token)
            mesh.agent_options[index] = {"controller": f"[{a.address}, {b.address}]", "keys": line.partition(": ")[2]}
            mesh.start_agent(index)
        self.check_both_show_all(mesh, both, ("udp",))
        self.assertEqual([host["host"] for one in both for host in self.own(one)], ["host-1", "host-0"])
        self.assertEqual(listed(a), {"host-0", "host-1"})
        self.assertEqual(listed(b), {"host-0", "host-1"})
        self.check_bursts(mesh, both, "udp")

        # A key that is revoked at the other one loses its registration at its home.
        keys("revoke", "--config", a.config, "host-0")
        eventually(lambda: listed(b) == {"host-1"}, 20, "it is revoked everywhere")
        eventually(lambda: not [host for host in self.own(b) if host["alive"]], 20, "and its agent is let in nowhere")
        self.assertEqual([host["host"] for host in self.own(a) if host["alive"]], ["host-1"])

    def test_a_leader_judges_the_agents_of_the_others(self):
        mesh = self.mesh(5, protocols=("rdma",), timeout="300ms")
        for table in ("events", "presence", "severities"):
            self.sql(f"ALTER TABLE {table} ADD COLUMN writer TEXT NOT NULL DEFAULT current_user")
        leader, other = both = self.controllers(mesh, "a", "b", homes={"host-0": "a", "host-4": "b"})
        homes = {f"host-{index}": self.home_of(f"host-{index}", both).name for index in range(5)}
        self.assertEqual(leader.role(), "leader")
        for index in range(5):
            mesh.agent_options[index] = {"controller": "[" + ", ".join(one.address for one in both) + "]"}
            mesh.start_agent(index)
        self.check_both_show_all(mesh, both, ("rdma",))
        self.assertEqual([host["host"] for host in self.own(leader)], [host for host, home in homes.items() if home == "a"])

        def about(one, address):
            return {incident["id"] for incident in one.get("/api/v1/incidents").json()["open"] if incident["culprit"] == address}

        slow = mesh.addresses[4]
        mesh.agents[4].kill()
        mesh.rdma[4] = SLOW
        mesh.start_agent(4)
        eventually(lambda: about(leader, slow), 40, "the leader accuses an agent of the other one")
        incident = about(leader, slow)
        eventually(lambda: about(other, slow) == incident, 20, "the other one shows it")
        # Each thing is in the history once, from the home of its source.
        by_address = {address: homes[f"host-{index}"] for index, address in enumerate(mesh.addresses)}
        for table, column in (("severities", "source"), ("presence", "address"), ("events", "source")):
            writers = {tuple(line.split("|")) for line in self.sql(
                f"SELECT encode({column}, 'hex'), writer FROM {table} WHERE length({column}) > 0")}
            self.assertLessEqual(writers, {(ipaddress.ip_address(address).packed.hex(), home)
                                           for address, home in by_address.items()}, table)
        self.assertTrue(writers)

        leader.process.kill()
        eventually(lambda: other.role() == "leader", 20, "the other one leads")
        eventually(lambda: len(self.own(other)) == 5 and mesh.delivered(), 40, "all agents are home there")
        eventually(lambda: self.states(mesh, other, "rdma", 0) == {"ok"}, 20, "with the rows of all")
        self.assertEqual(about(other, slow), incident, "the same incident goes on")
        self.assertEqual([host["host"] for host in other.get("/api/v1/hosts").json()["hosts"] if not host["alive"]], [])

    def test_pairs_for_links_reach_agents_of_all(self):
        mesh = self.mesh(4)
        hosts = "".join(f"  h{index}: {{ address: {address}, rack: r{index // 2} }}\n"
                        for index, address in enumerate(mesh.addresses))
        mesh.write_pinglist("version: 1\ndefaults: { interval: 100ms, timeout: 300ms, window: 1s }\n"
                            f"hosts:\n{hosts}probes:\n  - name: udp\n    protocol: udp\n    mesh: [h0, h1, h2, h3]\n"
                            "    plan: { full: rack, across: { targets: 1, cover: 1 } }\n")
        planned = json.loads(mesh.cli("plan", str(mesh.pinglist_path), "--host", "h0", "--json").stdout)
        probed = {destination for probe in planned["probes"] for destination in probe["destinations"]}
        pair = (mesh.addresses[0], next(each for each in mesh.addresses[2:] if each not in probed))

        def one_knows(controllers):
            """The home of host-0 is the other one."""
            folder = mesh.directory / "b"
            folder.mkdir(mode=0o700)
            (folder / "cover").write_text(json.dumps({"probes": [{"probe": "udp", "inputs": "1 1 1 rack", "pairs": [pair]}]}))

        both = self.controllers(mesh, "a", "b", homes={"host-0": "a"}, prepare=one_knows)
        for index in range(4):
            mesh.agent_options[index] = {"controller": "[" + ", ".join(one.address for one in both) + "]"}
            mesh.start_agent(index)

        def state(one):
            grid = one.get("/api/v1/grid?probe=udp&metric=network_p50").json()
            return grid["states"][grid["sources"].index(pair[0])][grid["destinations"].index(pair[1])]
        eventually(lambda: [state(one) for one in both] == ["ok", "ok"], 60, "the pair is probed, and both show it")
        self.assertEqual([host["host"] for host in self.own(both[0]) if host["host"] == "host-0"], ["host-0"])
        # It stays when the one that knew it first has gone.
        both[1].process.kill()
        eventually(lambda: both[0].role() == "leader" and state(both[0]) == "ok", 40, "the pair is still probed")
        self.assertIn(list(pair), [known for probe in json.loads((mesh.directory / "a/cover").read_text())["probes"]
                                   for known in probe["pairs"]])

    def test_what_does_not_fit_is_refused_by_name(self):
        mesh = self.mesh(2)
        first = self.controllers(mesh, "a")[0]
        twin = Controller(mesh, "twin", [str(self.server.folder)])
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
