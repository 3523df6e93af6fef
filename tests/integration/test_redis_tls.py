"""An external Redis that speaks TLS and wants the controller's certificate."""

import unittest

from mesh import Mesh, free_port
from processes import eventually
from resp import Resp
from tls_files import TlsFiles


class RedisTls(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        self.files = TlsFiles(self.mesh.directory)
        self.files.authority("ca")
        self.files.authority("other-ca")
        self.files.certificate("server", "ca", self.mesh.home)
        self.files.certificate("client", "ca", "127.0.0.1")
        self.port = free_port()
        self.mesh.run("redis", "redis-server", "--port", "0", "--tls-port", str(self.port), "--bind", self.mesh.home,
                      *self.files.server_options("server", "ca"), "--unixsocket", str(self.mesh.redis_socket), "--save", "",
                      "--dir", str(self.mesh.directory))
        eventually(lambda: self.mesh.ask_redis("PING") == "PONG", 20, "redis-server answers")
        self.mesh.redis = f"tcp:{self.mesh.home}:{self.port}"

    def start(self, tls):
        self.mesh.controller_options["redis_tls"] = tls
        self.mesh.start()

    def state(self):
        return self.mesh.status()["redis"]

    def outage(self, reason):
        eventually(lambda: not self.state()["connected"] and reason in (self.state()["error"] or ""), 20, reason)
        self.assertEqual(self.mesh.ask_redis("DBSIZE"), 0)

    def test_rows_are_written(self):
        self.start(self.files.client_option("ca", "client"))
        eventually(lambda: set(self.mesh.rows("udp")) == self.mesh.pairs(), 40, "the rows")
        self.assertTrue(self.state()["connected"])
        # A connection that ends is made again.
        with Resp(self.mesh.redis_socket) as redis:
            redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            redis("FLUSHALL")
        eventually(lambda: set(self.mesh.rows("udp")) == self.mesh.pairs(), 40, "the rows again")

    def test_results_reads_them(self):
        self.start(self.files.client_option("ca", "client"))
        eventually(lambda: set(self.mesh.rows("udp")) == self.mesh.pairs(), 40, "the rows")

        def results(authority, *options):
            return self.mesh.cli("results", "--csv", "--redis", self.mesh.redis, "--redis-ca", self.files.pem(authority), *options)

        client = ("--redis-certificate", self.files.pem("client"), "--redis-key", self.files.key("client"))
        answer = results("ca", *client)
        self.assertEqual((answer.returncode, len(answer.stdout.splitlines())), (0, 3), answer.stderr)
        for reason, answer in (("not trusted", results("other-ca", *client)), ("TLS", results("ca")),
                               ("belong together", results("ca", *client[:2])),
                               ("--redis-tls", self.mesh.cli("results", "--redis", self.mesh.redis)),
                               ("has no TLS", self.mesh.cli("results", "--redis", f"unix:{self.mesh.redis_socket}", "--redis-tls"))):
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), reason)
            self.assertIn(reason, answer.stderr)

    def test_a_certificate_of_another_authority(self):
        self.start(self.files.client_option("other-ca", "client"))
        self.outage("its certificate is not trusted")
        self.mesh.assert_all_alive()

    def test_a_certificate_of_another_address(self):
        self.files.certificate("server", "ca", "127.9.9.9")
        with Resp(self.mesh.redis_socket) as redis:
            redis("CONFIG", "SET", "tls-cert-file", self.files.pem("server"), "tls-key-file", self.files.key("server"))
        self.start(self.files.client_option("ca", "client"))
        self.outage("IP address mismatch")

    def test_the_server_wants_a_certificate(self):
        self.start(f"{{ ca: {self.files.pem('ca')} }}")
        self.outage("certificate required")

    def test_a_file_that_is_missing(self):
        self.start("{ ca: /nonexistent.pem }")
        self.outage("/nonexistent.pem: has no certificate in PEM")


if __name__ == "__main__":
    unittest.main()
