"""An external Redis whose master sentinels name: the controller follows them to another master."""

import os
import time
import unittest

from mesh import Mesh, free_port
from processes import eventually
from resp import Resp, RespError


class SentinelMesh(unittest.TestCase):
    password = None  # of the sentinel

    def setUp(self):
        self.mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        self.home = self.mesh.home
        self.servers = {}
        self.master, self.replica = free_port(), free_port()
        self.start_redis(self.master)
        self.start_redis(self.replica, "--replicaof", self.home, str(self.master))
        eventually(lambda: self.ask(self.replica, "ROLE")[3] == "connected", 20, "the replica follows")
        self.sentinel = self.start_sentinel()
        # The first one of the list is never there.
        self.name_sentinels()

    def name_sentinels(self, more=""):
        """`more`: further keys of the section."""
        self.mesh.redis = f"{{ sentinel: {{ master: main, hosts: [{self.home}:{free_port()}, {self.home}:{self.sentinel}]{more} }} }}"

    def ask_sentinel(self, *words):
        return self.ask(self.sentinel, "SENTINEL", *words, password=self.password)

    def ask(self, port, *words, password=None):
        try:
            with Resp((self.home, port)) as redis:
                if password:
                    redis("AUTH", password)
                return redis(*words)
        except RespError as failure:
            raise OSError(str(failure)) from failure

    def run_redis(self, port, *arguments, password=None):
        self.servers[port] = self.mesh.run(f"redis-{port}", "redis-server", *arguments)
        eventually(lambda: self.ask(port, "PING", password=password) == "PONG", 20, "it answers")

    def start_redis(self, port, *arguments):
        folder = self.mesh.directory / str(port)
        folder.mkdir(exist_ok=True)
        self.run_redis(port, "--port", str(port), "--bind", self.home, "--save", "", "--dir", str(folder),
                       "--repl-diskless-sync-delay", "0", "--replica-announce-ip", self.home, *arguments)

    def start_sentinel(self):
        port = free_port()
        config = self.mesh.directory / "sentinel.conf"
        config.write_text(f"""port {port}
bind {self.home}
dir {self.mesh.directory}
sentinel monitor main {self.home} {self.master} 1
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 5000
""" + (f"requirepass {self.password}\n" if self.password else ""))
        self.run_redis(port, str(config), "--sentinel", password=self.password)
        # A sentinel hears of replicas by asking their master, and cannot promote one before.
        eventually(lambda: len(self.ask(port, "SENTINEL", "replicas", "main", password=self.password)) == 1, 30, "the sentinel knows the replica")
        return port

    def rows(self, port):
        return [destination for source in self.mesh.addresses
                for destination in self.ask(port, "HKEYS", f"pingloom:latest:udp:{source}")]

    def state(self):
        return self.mesh.status()["redis"]

    def outage(self, reason):
        # The sentinel that is not there is asked in turn.
        eventually(lambda: not (state := self.state())["connected"] and reason in (state["error"] or ""), 40, reason)


class RedisSentinel(SentinelMesh):
    def test_a_master_is_killed(self):
        self.mesh.start()
        eventually(lambda: len(self.rows(self.master)) == 2, 40, "the rows are at the master")
        self.assertEqual(self.state()["target"], "sentinel:main")
        self.servers[self.master].kill()
        eventually(lambda: self.ask(self.replica, "ROLE")[0] == "master", 40, "the replica is promoted")
        promoted = time.monotonic()
        # Replicated keys expire after three windows; what is there then has been written to this server.
        self.ask(self.replica, "FLUSHALL")
        eventually(lambda: len(self.rows(self.replica)) == 2 and self.state()["connected"], 40, "the rows are at the new master")
        print(f"the rows were at the promoted master after {time.monotonic() - promoted:.1f} s", flush=True)
        self.assertEqual(self.ask(self.replica, "SMEMBERS", "pingloom:probes"), ["udp"])

        # The old one comes back, and loses its role while the controller is connected to the new one.
        self.start_redis(self.master)
        eventually(lambda: self.ask(self.master, "ROLE")[0] == "slave", 60, "the old master is a replica")
        eventually(lambda: len(self.rows(self.master)) == 2, 40, "the rows are there by replication")
        self.mesh.assert_all_alive()

    def test_what_is_no_master_takes_no_rows(self):
        self.ask_sentinel("REMOVE", "main")
        self.ask_sentinel("MONITOR", "main", self.home, self.replica, "1")
        self.mesh.start()
        self.outage(f"tcp:{self.home}:{self.replica}: is no master")
        self.assertEqual(self.ask(self.replica, "DBSIZE"), 0)
        self.ask_sentinel("REMOVE", "main")
        self.outage("knows no master 'main'")
        self.ask_sentinel("MONITOR", "main", self.home, self.master, "1")
        eventually(lambda: len(self.rows(self.master)) == 2, 40, "the rows are at the master")
        # It loses its role, and the connection stays.
        self.ask_sentinel("REMOVE", "main")
        self.ask(self.master, "REPLICAOF", self.home, free_port())
        self.outage("knows no master 'main'")
        self.assertIn("READONLY", self.mesh.controller.log())
        self.mesh.assert_all_alive()


class SentinelWithPassword(SentinelMesh):
    password = "s3ntinel_secret"

    def test_its_password(self):
        file = self.mesh.directory / "sentinel-password"
        file.write_text("wrong\n")
        os.chmod(file, 0o600)
        self.name_sentinels(f", password_file: {file}")
        self.mesh.start()
        self.outage("WRONGPASS")
        # The file is read for each question.
        file.write_text(self.password + "\n")
        eventually(lambda: len(self.rows(self.master)) == 2 and self.state()["connected"], 40, "the rows are at the master")
        self.assertNotIn(self.password, self.mesh.controller.log())
        # The first sentinel is not there.
        place = f"sentinel:main@{self.home}:{free_port()},{self.home}:{self.sentinel}"
        answer = self.mesh.cli("results", "--csv", "--redis", place, "--redis-sentinel-password-file", str(file))
        self.assertEqual((answer.returncode, len(answer.stdout.splitlines())), (0, 3), answer.stderr)
        answer = self.mesh.cli("results", "--redis", place)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("NOAUTH", answer.stderr)
        self.mesh.assert_all_alive()

    def test_it_wants_one(self):
        self.mesh.start()
        self.outage("NOAUTH")


if __name__ == "__main__":
    unittest.main()
