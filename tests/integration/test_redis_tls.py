"""An external Redis that speaks TLS and wants the controller's certificate."""

import subprocess
import unittest

from mesh import Mesh, free_port
from processes import eventually
from resp import Resp


class RedisTls(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=2, interval="100ms", window="1s")
        self.folder = self.mesh.directory
        self.authority("ca")
        self.authority("other-ca")
        self.certificate("server", "ca", self.mesh.home)
        self.certificate("client", "ca", "127.0.0.1")
        self.port = free_port()
        self.mesh.run("redis", "redis-server", "--port", "0", "--tls-port", str(self.port), "--bind", self.mesh.home,
                      "--tls-cert-file", self.pem("server"), "--tls-key-file", self.key("server"),
                      "--tls-ca-cert-file", self.pem("ca"), "--unixsocket", str(self.mesh.redis_socket), "--save", "",
                      "--dir", str(self.folder))
        eventually(lambda: self.mesh.ask_redis("PING") == "PONG", 20, "redis-server answers")
        self.mesh.redis = f"tcp:{self.mesh.home}:{self.port}"

    def pem(self, name):
        return str(self.folder / f"{name}.pem")

    def key(self, name):
        return str(self.folder / f"{name}.key")

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def authority(self, name):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                     "-subj", f"/CN={name}", "-keyout", self.key(name), "-out", self.pem(name))

    def certificate(self, name, authority, address):
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName=IP:{address}\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", self.key(name), "-out", str(request))
        self.openssl("x509", "-req", "-in", str(request), "-CA", self.pem(authority), "-CAkey", self.key(authority),
                     "-CAcreateserial", "-days", "2", "-extfile", str(extensions), "-out", self.pem(name))

    def start(self, tls):
        self.mesh.controller_options["redis_tls"] = tls
        self.mesh.start()

    def with_client(self, authority):
        return f"{{ ca: {self.pem(authority)}, certificate: {self.pem('client')}, key: {self.key('client')} }}"

    def state(self):
        return self.mesh.status()["redis"]

    def outage(self, reason):
        eventually(lambda: not self.state()["connected"] and reason in (self.state()["error"] or ""), 20, reason)
        self.assertEqual(self.mesh.ask_redis("DBSIZE"), 0)

    def test_rows_are_written(self):
        self.start(self.with_client("ca"))
        eventually(lambda: set(self.mesh.rows("udp")) == self.mesh.pairs(), 40, "the rows")
        self.assertTrue(self.state()["connected"])
        # A connection that ends is made again.
        with Resp(self.mesh.redis_socket) as redis:
            redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            redis("FLUSHALL")
        eventually(lambda: set(self.mesh.rows("udp")) == self.mesh.pairs(), 40, "the rows again")

    def test_a_certificate_of_another_authority(self):
        self.start(self.with_client("other-ca"))
        self.outage("its certificate is not trusted")
        self.mesh.assert_all_alive()

    def test_a_certificate_of_another_address(self):
        self.certificate("server", "ca", "127.9.9.9")
        with Resp(self.mesh.redis_socket) as redis:
            redis("CONFIG", "SET", "tls-cert-file", self.pem("server"), "tls-key-file", self.key("server"))
        self.start(self.with_client("ca"))
        self.outage("IP address mismatch")

    def test_the_server_wants_a_certificate(self):
        self.start(f"{{ ca: {self.pem('ca')} }}")
        self.outage("certificate required")

    def test_a_file_that_is_missing(self):
        self.start("{ ca: /nonexistent.pem }")
        self.outage("/nonexistent.pem: has no certificate in PEM")


if __name__ == "__main__":
    unittest.main()
