"""A Redis Cluster: each key is at the master of its slot, and a master that is away delays its own keys only."""

import json
import os
import signal
import threading
import time
import unittest

from mesh import Mesh
from processes import eventually
from redis_cluster import RedisCluster, latest_key, slot_of
from tls_files import TlsFiles


def utc_before(seconds=0):
    """A time as rows have it, without fractions."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - seconds))


class Watch(threading.Thread):
    """Looks at rows all the time, and notes when one is not there or is stale although the controller has it."""

    def __init__(self, mesh, places):
        """`places`: pairs of a node and a source."""
        super().__init__(daemon=True)
        self.mesh, self.places, self.troubles, self.looks = mesh, places, [], 0
        self.ended = threading.Event()
        self.start()

    def trouble(self, node, source):
        try:
            states = [json.loads(text)["state"] for text in node("HVALS", latest_key(source))]
        except OSError as failure:
            return str(failure)
        return None if len(states) == 2 and "stale" not in states else states

    def is_late(self, source):
        """Whether the controller itself has had no new row for so long that a key expires; a busy machine's disk does that."""
        oldest = utc_before(seconds=3)
        try:
            return any(self.mesh.get(f"/api/v1/pairs/udp/{source}/{destination}").json()["end"] < oldest
                       for destination in self.mesh.addresses if destination != source)
        except (OSError, KeyError):
            return False

    def run(self):
        while not self.ended.wait(0.1):
            for node, source in self.places:
                self.looks += 1
                if self.trouble(node, source) and not self.is_late(source):
                    time.sleep(0.5)  # what the controller has just got is written meanwhile
                    if trouble := self.trouble(node, source):
                        self.troubles.append((source, trouble))

    def end(self):
        self.ended.set()
        self.join()
        return self.troubles


class ClusterMesh(unittest.TestCase):
    options = ()
    replicas = False

    def setUp(self):
        self.mesh = Mesh(self, hosts=3, interval="100ms", window="1s")
        self.prepare()
        self.cluster = RedisCluster(self.mesh, *self.options, replicas=self.replicas)
        self.mesh.redis = self.cluster.option()

    def prepare(self):
        pass

    def state(self):
        return self.mesh.status()["redis"]

    def rows(self, node, source):
        """The time at which each row of the source ends."""
        return [json.loads(text)["end"] for text in node("HVALS", latest_key(source))]

    def all_rows(self):
        return all(len(self.rows(node, source)) == 2 for node, source in zip(self.cluster.masters, self.cluster.sources))

    def results(self, *options):
        """The pairs that `pingloom results` shows."""
        answer = self.mesh.cli("results", "--json", "--redis", self.cluster.place(), *options)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = [json.loads(line) for line in answer.stdout.splitlines()]
        return {(row["source"], row["destination"]) for row in rows}

    def start(self):
        self.mesh.start()
        eventually(self.all_rows, 40, "the rows are at their masters")
        eventually(lambda: self.state()["connected"], 20, "all masters are connected")


class Failover(ClusterMesh):
    replicas = True

    def test_a_master_is_killed(self):
        self.start()
        watch = Watch(self.mesh, list(zip(self.cluster.masters, self.cluster.sources))[1:])
        dead, heir, source = self.cluster.masters[0], self.cluster.replicas[0], self.cluster.sources[0]
        dead.process.kill()
        eventually(lambda: not self.state()["connected"], 20, "the controller notices")
        self.assertIn(str(dead.port), self.state()["error"])
        eventually(lambda: heir("ROLE")[0] == "master", 40, "the replica is promoted")
        promoted, at = time.monotonic(), utc_before()
        eventually(lambda: len(ends := self.rows(heir, source)) == 2 and min(ends) > at, 20, "rows of later windows are there")
        print(f"rows of later windows were at the promoted master after {time.monotonic() - promoted:.1f} s", flush=True)
        eventually(lambda: self.state()["connected"], 20, "all masters are connected again")
        self.assertEqual(watch.end(), [])
        self.assertGreater(watch.looks, 0)

        # The dead one comes back as a replica.
        dead.start()
        eventually(lambda: dead("ROLE")[0] == "slave", 40, "the old master is a replica")
        eventually(lambda: len(self.rows(heir, source)) == 2 and self.state()["connected"], 20, "nothing changes")
        self.mesh.assert_all_alive()


class Slots(ClusterMesh):
    def test_a_master_that_has_lost_everything(self):
        for key, member in (("pingloom:probes", "left"), ("pingloom:sources:left", "10.9.9.9")):
            self.cluster.master_of(key)("SADD", key, member)
        left = latest_key("10.9.9.9").replace("udp", "left")
        self.cluster.master_of(left)("HSET", left, "a", "b")
        self.start()
        index, sources = self.cluster.master_of("pingloom:probes"), self.cluster.master_of("pingloom:sources:udp")
        eventually(lambda: index("SMEMBERS", "pingloom:probes") == ["udp"], 20, "what an earlier controller left is gone")
        for key in (left, "pingloom:sources:left"):
            self.assertEqual(self.cluster.master_of(key)("EXISTS", key), 0)
        for node in self.cluster.masters:
            watch = Watch(self.mesh, [place for place in zip(self.cluster.masters, self.cluster.sources) if place[0] is not node])
            node.process.signal(signal.SIGSTOP)
            eventually(lambda: not self.state()["connected"], 20, "the controller notices that it hangs")
            self.assertEqual(watch.end(), [])
            node.process.kill()
            node.start()
            eventually(lambda: self.all_rows() and self.state()["connected"], 30, "everything is there again")
        self.assertEqual(index("SMEMBERS", "pingloom:probes"), ["udp"])
        self.assertEqual(set(sources("SMEMBERS", "pingloom:sources:udp")), set(self.mesh.addresses))
        self.mesh.assert_all_alive()

    def test_a_slot_moves(self):
        self.start()
        here, there, other = self.cluster.masters
        key = latest_key(self.cluster.sources[0])
        slot = slot_of(key)
        there("CLUSTER", "SETSLOT", slot, "IMPORTING", here.id)
        here("CLUSTER", "SETSLOT", slot, "MIGRATING", there.id)
        here("DEL", key)

        def imported():
            with there.connection() as redis:
                redis("ASKING")
                return redis("HLEN", key)

        eventually(lambda: imported() == 2, 20, "commands follow ASK")
        self.assertEqual(self.results(), self.mesh.pairs(), "it follows ASK, too")
        with there.connection() as redis:
            redis("ASKING")
            redis("HSET", key, "10.9.9.9", "old")
        reconnects = self.state()["reconnects"]
        here("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        eventually(lambda: imported() == 2, 20, "the transaction that replaces the key follows ASK as a whole")
        reconnects += 1
        eventually(lambda: self.state()["connected"] and self.state()["reconnects"] == reconnects, 20, "connected again")
        for node in (there, here, other):
            node("CLUSTER", "SETSLOT", slot, "NODE", there.id)
        with there.connection() as redis:
            redis("DEL", key)
        eventually(lambda: there("HLEN", key) == 2, 20, "commands follow MOVED")

        def settled():
            seen, before = here.redirects("MOVED"), self.rows(there, self.cluster.sources[0])
            eventually(lambda: min(self.rows(there, self.cluster.sources[0])) > max(before), 20, "a later window")
            return here.redirects("MOVED") == seen
        eventually(settled, 30, "the new owner is asked at once")
        state = self.state()
        self.assertEqual((state["connected"], state["reconnects"]), (True, reconnects))
        self.assertGreater(here.redirects("MOVED"), 0)
        self.mesh.assert_all_alive()


class TlsAndUsers(ClusterMesh):
    def prepare(self):
        files = self.files = TlsFiles(self.mesh.directory)
        files.authority("ca")
        files.certificate("server", "ca", self.mesh.home)
        files.certificate("client", "ca", "127.0.0.1")
        users, password = self.mesh.directory / "users.acl", self.mesh.directory / "password"
        self.reader_file = self.mesh.directory / "reader-password"
        # The rights are those of docs/redis-keys.md and docs/operations.md.
        users.write_text("user default off\n"
                         "user pingloom on >wr1te_secret ~pingloom:* +hset +hdel +del +pexpire +sadd +srem +smembers +set +xadd"
                         " +multi +exec +ping +auth +asking +cluster|slots\n"
                         "user viewer on >r3ad_secret ~pingloom:* +hgetall +hmget +smembers +ping +auth +asking +cluster|slots\n"
                         "user root on >root ~* +@all\n")
        for file, secret in ((password, "wr1te_secret"), (self.reader_file, "r3ad_secret")):
            file.write_text(secret + "\n")
            os.chmod(file, 0o600)
        self.options = (*files.server_options("server", "ca"), "--tls-cluster", "yes", "--aclfile", str(users))
        self.mesh.controller_options = {"redis_user": "pingloom", "redis_password_file": password,
                                        "redis_tls": files.client_option("ca", "client")}

    def test_rows_and_a_slot_that_moves(self):
        self.start()
        here, there, _ = self.cluster.masters
        key = latest_key(self.cluster.sources[0])
        there("CLUSTER", "SETSLOT", slot_of(key), "IMPORTING", here.id)
        here("CLUSTER", "SETSLOT", slot_of(key), "MIGRATING", there.id)
        here("DEL", key)
        eventually(lambda: here.redirects("ASK") > 0, 20, "a command is redirected")
        there("CLUSTER", "SETSLOT", slot_of(key), "NODE", there.id)
        here("CLUSTER", "SETSLOT", slot_of(key), "NODE", there.id)
        eventually(lambda: there("HLEN", key) == 2, 20, "the rows are at the new owner")
        self.assertTrue(self.state()["connected"])
        pairs = self.results("--redis-user", "viewer", "--redis-password-file", str(self.reader_file), "--redis-ca", self.files.pem("ca"),
                             "--redis-certificate", self.files.pem("client"), "--redis-key", self.files.key("client"))
        self.assertEqual(pairs, self.mesh.pairs())
        for node in self.cluster.masters:
            self.assertEqual(node("ACL", "LOG"), [])


if __name__ == "__main__":
    unittest.main()
