"""A world with three controllers that share a history in PostgreSQL, a primary and a replica, and a Redis Cluster of three
masters and three replicas. The cluster and each of the others is on a host with a network of its own, and each controller
has a witness of its own before it (tap.py)."""

import contextlib
import json
import sqlite3
import unittest

from accounting import PostgresBlocks
from controllers import Controller
from mesh import free_port
from postgres import Postgres, initialise, serve, started
from redis_cluster import RedisCluster
from world import World

NAMES = ("a", "b", "c")
COLUMNS = "probe, source, path, start_ns, window_ns, minute, incarnation, sequence, content"


class Tapped(Controller):
    """A controller that others reach through its witness only."""

    def __init__(self, *arguments):
        self.tap_port = free_port()
        super().__init__(*arguments)

    @property
    def address(self):
        return f"{self.home}:{self.tap_port}"


class SeveralControllers(World):
    """`kind`: Tapped, or Controller for a world without witnesses."""

    def __init__(self, case, hosts, seed, protocols, kind=Tapped):
        super().__init__(case, hosts, seed, protocols)
        if not self.fabric:
            raise unittest.SkipTest("several controllers need networks of their own")
        self.database_hosts = [self.network.add() for _ in range(2)]
        redis_host, (redis_address, *_) = self.network.add()
        self.redis_cluster = RedisCluster(self, "--protected-mode", "no", replicas=True, home=redis_address,
                                          inside=lambda: self.network.inside(redis_host))
        self.databases_made = 0
        index, (address, *_) = self.database_hosts[0]
        self.database_folder, self.primary = serve(case, *NAMES, address=address, inside=lambda: self.network.inside(index))
        initialise(case, self.primary, self.directory, *NAMES)
        self.primary.sql("ALTER TABLE blocks ADD COLUMN writer TEXT NOT NULL DEFAULT current_user", "pingloom")
        self.replica = None
        databases = [addresses[0] for _, addresses in self.database_hosts]
        self.controllers = [self.made(kind, name, databases) for name in NAMES]
        everyone = "[" + ", ".join(one.address for one in self.controllers) + "]"
        for index in range(hosts):
            self.agent_options[index] = {"controller": everyone}

    def made(self, kind, name, databases):
        index, (address, *_) = self.network.add()
        controller = kind(self, name, databases, self.redis_cluster.option(), address, lambda: self.network.inside(index))
        controller.index = index
        return controller

    def ledger(self):
        return PostgresBlocks(lambda: self.primary)

    def start(self):
        self.add_replica()
        for one in self.controllers:
            self.run_tap(f"tap-{one.name}", one.address, f"{one.home}:{one.control_port}", one.inside)
            one.start()
        for index in range(len(self.addresses)):
            self.start_agent(index)
        return self.begin()

    # ---- what they share ----

    def add_replica(self):
        """On the host that has no server. The primary waits for it from now on, so that what it has committed is there."""
        index, (address, *_) = next(host for host in self.database_hosts if host[1][0] != self.primary.address)
        self.databases_made += 1
        made = Postgres(self.database_folder / str(self.databases_made), address, lambda: self.network.inside(index))
        self.replica = started(self.case, made.copy_of(self.primary))
        self.wait_for_replicas("*")

    def wait_for_replicas(self, names):
        self.primary.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.primary.sql("SELECT pg_reload_conf()")

    def promote(self):
        """The replica becomes the primary, as an administrator or a failover manager does it."""
        self.replica.promote()
        self.primary, self.replica = self.replica, None
        self.wait_for_replicas("")

    def rows(self, probe):
        """{(source, destination): row} as the masters have it now."""
        rows = {}
        key = f"pingloom:sources:{probe}"
        for source in self.redis_cluster.master_of(key)("SMEMBERS", key):
            key = f"pingloom:latest:{probe}:{source}"
            with self.redis_cluster.master_of(key).connection() as redis:
                for destination, text in redis.hash(key).items():
                    rows[source, destination] = json.loads(text)
        return rows

    def history_file(self):
        """The history as a file, for selftest.py."""
        lines = self.primary.sql("SELECT probe, encode(source, 'hex'), path, start_ns, window_ns, minute, incarnation, sequence,"
                                 " encode(content, 'hex') FROM blocks ORDER BY id", "pingloom")
        path = self.directory / "history.sqlite"
        path.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.execute(f"CREATE TABLE blocks(id INTEGER PRIMARY KEY, {COLUMNS})")
            for line in lines:
                probe, source, *numbers, content = line.split("|")
                file.execute(f"INSERT INTO blocks({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             (probe, bytes.fromhex(source), *map(int, numbers), bytes.fromhex(content)))
            file.commit()
        return path

    def written_by(self, controller):
        """How many windows a controller has committed."""
        return int(self.primary.sql(f"SELECT count(*) FROM blocks WHERE minute = 0 AND writer = '{controller.name}'", "pingloom")[0])

    # ---- how they are ----

    def running(self):
        return [one for one in self.controllers if one.process.running()]

    def leader(self):
        """The one that leads as it says itself; none counts as not yet."""
        for one in self.running():
            if one.role() == "leader":
                return one
        raise OSError("nobody leads")

    def pids(self):
        return [(f"controller-{number}", one.process.pid) for number, one in enumerate(self.running())] + super().pids()

    def assert_all_alive(self):
        for process in self.agents.values():
            self._alive(process)

    def unconnected(self):
        running = self.running()
        wrong = [each for one in running for each in self._amiss_of(one, len(running))]
        leaders = {one.leader() for one in running}
        if len(leaders) != 1 or None in leaders:
            wrong.append(f"the leaders are {leaders}")
        return wrong + self.agents_amiss()

    @staticmethod
    def _amiss_of(controller, running):
        status = controller.get("/api/v1/status").json()
        members = controller.get("/api/v1/controllers").json()["controllers"]
        checks = (("is not connected to Redis", status["redis"]["connected"]),
                  ("does not write the history", status["history"]["writing"]),
                  ("does not know of all controllers", len(members) == running),
                  ("does not show the agents of all", all(member["shown"] for member in members)))
        return [f"{controller.name} {what}" for what, well in checks if not well]

    def unshown(self, before):
        """Beside what Redis does not show: pairs that a controller does not show as ok."""
        wrong = super().unshown(before)
        for one in self.running():
            for probe in self.protocols:
                grid = one.get(f"/api/v1/grid?probe={probe}&metric=network_p50").json()
                shown = {(source, destination) for source, row in zip(grid["sources"], grid["states"])
                         for destination, state in zip(grid["destinations"], row) if state == "ok"}
                wrong += [f"{one.name}: {probe} {pair[0]}->{pair[1]}" for pair in self.pairs() - shown]
        return wrong
