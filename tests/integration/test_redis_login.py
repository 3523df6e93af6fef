"""A Redis with ACLs: the controller with a user of its own that may do what docs/redis-keys.md says and
no more, and `pingloom results` with one that may only read."""

import json
import os
import unittest

from mesh import Mesh
from processes import eventually
from resp import Resp

WRITER = "+hset +hdel +del +pexpire +sadd +srem +smembers +xadd +multi +exec +ping +auth"
READER = "+hgetall +hget +hmget +smembers +ping +auth"


class RedisLogin(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        self.mesh.redis = f"unix:{self.mesh.redis_socket}"
        self.writer_file = self.secret("writer-password", "wr1te_secret")
        self.reader_file = self.secret("reader-password", "r3ad_secret")
        self.mesh.controller_options = {"redis_user": "pingloom",
                                        "redis_password_file": self.writer_file}
        self.start_redis()
        self.mesh.start()

    def secret(self, name, text):
        path = self.mesh.directory / name
        path.write_text(text + "\n")
        os.chmod(path, 0o600)
        return path

    def start_redis(self):
        acl = self.mesh.directory / "users.acl"
        acl.write_text("user default off\n"
                       f"user pingloom on >wr1te_secret ~pingloom:* {WRITER}\n"
                       f"user viewer on >r3ad_secret ~pingloom:* {READER}\n"
                       "user root on >root ~* +@all\n")
        self.mesh.run("redis", "redis-server", "--port", "0", "--unixsocket",
                      str(self.mesh.redis_socket), "--save", "", "--appendonly", "no", "--dir",
                      str(self.mesh.directory), "--aclfile", str(acl))
        eventually(lambda: self.as_root("PING") == "PONG", 10, "redis-server answers")

    def as_root(self, *words):
        with Resp(self.mesh.redis_socket) as redis:
            redis("AUTH", "root", "root")
            return redis(*words)

    def results(self, *options):
        return self.mesh.cli("results", "--json", "--redis", self.mesh.redis, *options)

    def test_users_with_no_more_rights_than_documented(self):
        a, b = self.mesh.addresses
        for one, other in ((a, b), (b, a)):
            eventually(lambda: self.as_root("HGET", f"pingloom:latest:udp:{one}", other), 20, "a row")
        answer = self.results("--redis-user", "viewer", "--redis-password-file",
                              str(self.reader_file))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = [json.loads(line) for line in answer.stdout.splitlines()]
        self.assertEqual({(row["source"], row["destination"]) for row in rows}, {(a, b), (b, a)})
        # An edit removes a source: those commands are permitted as well.
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(
            addresses=[a, f"{self.mesh.subnet}.9"], interval="100ms", window="1s"))
        eventually(lambda: not self.as_root("EXISTS", f"pingloom:latest:udp:{b}"), 20, "b is removed")
        self.assertTrue(self.mesh.status()["redis"]["connected"])
        # Not one command was denied to either.
        denied = self.as_root("ACL", "LOG")
        self.assertEqual(denied, [])

    def test_wrong_or_no_password(self):
        a = self.mesh.addresses[0]
        eventually(lambda: self.as_root("EXISTS", f"pingloom:latest:udp:{a}"), 20, "a row")
        for options in ((), ("--redis-user", "viewer", "--redis-password-file", str(self.writer_file)),
                        ("--redis-user", "viewer", "--redis-password-file", "/nonexistent")):
            answer = self.results(*options)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), options)
            self.assertTrue(answer.stderr, options)
            self.assertNotIn("secret", answer.stderr)

    def test_a_password_that_is_changed(self):
        """The file is read at each connect; a refused login is an outage, and said to be one."""
        self.as_root("ACL", "SETUSER", "pingloom", "resetpass", ">another")
        self.as_root("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        eventually(lambda: not self.mesh.status()["redis"]["connected"], 20, "the outage is noticed")
        error = self.mesh.status()["redis"]["error"]
        self.assertIn("WRONGPASS", error)
        self.assertNotIn("secret", error + self.mesh.controller.log())
        self.writer_file.write_text("another\n")
        eventually(lambda: self.mesh.status()["redis"]["connected"], 20, "connected again")
        self.mesh.assert_all_alive()


if __name__ == "__main__":
    unittest.main()
