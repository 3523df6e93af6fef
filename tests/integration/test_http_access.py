"""Who may ask the controller over HTTP: tokens, sessions, TLS, limits; with real programs and
Python's own TLS and HTTP."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time
import unittest
import warnings

import private_network
from mesh import Mesh, parse_metrics
from processes import binary, eventually

READ = "r" * 40
OPERATE = "o" * 40
WITHDRAWN = "w" * 40


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read().decode()


def make_certificate(folder, address):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-days", "2", "-subj", "/CN=pingloom test", "-addext",
                    f"subjectAltName=IP:{address}", "-keyout", str(folder / "http.key"), "-out",
                    str(folder / "http.crt")], check=True, capture_output=True)
    os.chmod(folder / "http.key", 0o600)


class HttpAccess(unittest.TestCase):
    tls = True

    def setUp(self):
        self.mesh = Mesh(self, hosts=2)
        self.folder = self.mesh.directory
        self.secret("http-tokens", f"# ours\nread {READ} prometheus\noperate {OPERATE} alice\n"
                                   f"read {WITHDRAWN} bob\n")
        self.secret("read-token", READ + "\n")
        make_certificate(self.folder, self.mesh.home)
        self.mesh.controller_options = {
            "http_access": "{ tokens: http-tokens, certificate: http.crt, key: http.key }"}
        self.start()

    def start(self):
        self.mesh.start_controller(wait=False)
        eventually(lambda: self.mesh._alive(self.mesh.controller) and self.ask("/healthz").status == 200,
                   20, "the controller answers HTTPS")

    def secret(self, name, text):
        (self.folder / name).write_text(text)
        os.chmod(self.folder / name, 0o600)

    def context(self):
        return ssl.create_default_context(cafile=str(self.folder / "http.crt"))

    def connect(self, source=None):
        plain = socket.create_connection((self.mesh.home, self.mesh.http_port), 5,
                                         source_address=source and (source, 0))
        return self.context().wrap_socket(plain, server_hostname=self.mesh.home)

    def ask(self, path, token=None, method="GET", body=None, cookie=None, **headers):
        connection = http.client.HTTPSConnection(self.mesh.home, self.mesh.http_port, timeout=5,
                                                 context=self.context())
        try:
            if token:
                headers["Authorization"] = f"Bearer {token}"
            if cookie:
                headers["Cookie"] = cookie
            if body is not None:
                headers.setdefault("Content-Type", "application/json")
                body = json.dumps(body)
            connection.request(method, path, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def refused(self, reason):
        metrics = parse_metrics(self.ask("/metrics", READ).body)
        return metrics[f'pingloom_controller_http_refused_total{{reason="{reason}"}}']

    def reload(self):
        before = self.mesh.controller.tail(200).count("read again")
        self.mesh.controller.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.mesh.controller.tail(200).count("read again") > before, 10,
                   "the files were read again")

    def test_roles(self):
        self.assertEqual(self.ask("/healthz").status, 200)
        self.assertNotIn("reasons", self.ask("/readyz").body)
        burst = {"probe": "udp", "source": self.mesh.addresses[0],
                 "destination": self.mesh.addresses[1], "count": 1}
        for path in ("/api/v1/status", "/metrics", "/api/v1/grid?probe=udp&metric=loss"):
            answer = self.ask(path)
            self.assertEqual(answer.status, 401, path)
            self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Bearer"))
            self.assertEqual(self.ask(path, READ).status, 200, path)
            self.assertEqual(self.ask(path, OPERATE).status, 200, path)
        self.assertEqual(self.ask("/api/v1/status", "x" * 40).status, 401)
        self.assertEqual(self.ask("/api/v1/bursts", method="POST", body=burst).status, 401)
        self.assertEqual(self.ask("/api/v1/bursts", READ, "POST", burst).status, 403)
        # No agent runs: it is let in, and told so.
        self.assertEqual(self.ask("/api/v1/bursts", OPERATE, "POST", burst).status, 409)
        self.assertEqual(self.refused("role"), 1)
        self.assertEqual(self.refused("wrong_token"), 1)
        self.assertGreaterEqual(self.refused("no_token"), 4)

    def sign_in(self, token):
        answer = self.ask("/api/v1/session", method="POST", body={"token": token})
        self.assertEqual(answer.status, 200, answer.body)
        cookie = answer.headers["Set-Cookie"]
        for attribute in ("HttpOnly", "SameSite=Strict", "Secure", "Path=/"):
            self.assertIn(attribute, cookie)
        self.assertNotIn(token, cookie)
        return cookie.split(";")[0]

    def upgrade(self, cookie=None, origin=None):
        """The status of a WebSocket's opening, and its socket."""
        peer = self.connect()
        self.addCleanup(peer.close)
        host = f"{self.mesh.home}:{self.mesh.http_port}"
        lines = ["GET /api/v1/live HTTP/1.1", f"Host: {host}", "Upgrade: websocket",
                 "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Origin: {origin or 'https://' + host}"]
        if cookie:
            lines.append(f"Cookie: other=1; {cookie}")
        peer.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(peer.recv(65536).split()[1]), peer

    def test_sessions(self):
        self.assertEqual(json.loads(self.ask("/api/v1/session").body), {"role": None, "tokens": True})
        self.assertEqual(self.ask("/api/v1/session", method="POST", body={"token": "x" * 40}).status, 401)
        self.assertEqual(self.ask("/api/v1/session", method="POST", body=["x"]).status, 400)
        self.assertEqual(self.ask("/api/v1/session", method="POST", body={"token": READ},
                                  **{"Content-Type": "text/plain"}).status, 415)
        self.assertEqual(self.ask("/api/v1/session", method="POST", body={"token": READ},
                                  Origin="https://evil.example").status, 403)
        cookie = self.sign_in(READ)
        self.assertEqual(json.loads(self.ask("/api/v1/session", cookie=cookie).body)["role"], "read")
        self.assertEqual(self.ask("/api/v1/status", cookie=cookie).status, 200)
        self.assertEqual(self.ask("/api/v1/bursts", method="POST", body={}, cookie=cookie).status, 403)
        self.assertEqual(self.upgrade()[0], 401)
        self.assertEqual(self.upgrade(cookie, "https://evil.example")[0], 403)
        self.assertEqual(self.upgrade(cookie)[0], 101)
        self.assertEqual(self.ask("/api/v1/session", method="DELETE", cookie=cookie).status, 200)
        self.assertEqual(self.ask("/api/v1/status", cookie=cookie).status, 401)
        self.assertEqual(self.ask("/api/v1/status", cookie="pingloom-session=made-up").status, 401)

    def test_reload(self):
        cookie = self.sign_in(WITHDRAWN)
        status, viewer = self.upgrade(cookie)
        self.assertEqual(status, 101)
        # A mistake changes nothing.
        good = (self.folder / "http-tokens").read_text()
        self.secret("http-tokens", f"read {READ}\nwrite {OPERATE}\n")
        self.mesh.controller.process.send_signal(signal.SIGHUP)
        eventually(lambda: "http-tokens:2" in self.mesh.controller.tail(200), 10, "the mistake is named")
        self.assertNotIn(OPERATE, self.mesh.controller.tail(500))
        self.assertEqual(self.ask("/api/v1/status", WITHDRAWN).status, 200)
        # A token that has gone ends its session and its WebSocket.
        self.secret("http-tokens", good.replace(f"read {WITHDRAWN} bob\n", ""))
        old = self.context()
        make_certificate(self.folder, self.mesh.home)
        self.reload()
        self.assertEqual(self.ask("/api/v1/status", WITHDRAWN).status, 401, "and the certificate is new")
        self.assertEqual(self.ask("/api/v1/status", cookie=cookie).status, 401)
        with self.assertRaises(ssl.SSLError):
            with socket.create_connection((self.mesh.home, self.mesh.http_port), 5) as plain:
                old.wrap_socket(plain, server_hostname=self.mesh.home)
        self.mesh.write_pinglist(self.mesh.mesh_pinglist(window="2s"))  # something to tell viewers
        # The controller waits up to 10 s for the viewer's part of the farewell, which never comes.
        viewer.settimeout(40)
        try:
            while viewer.recv(65536):
                pass
        except ssl.SSLError:
            pass  # closed without a TLS farewell

    def test_wrong_files_end_the_start(self):
        self.mesh.controller.stop()
        os.chmod(self.folder / "http-tokens", 0o644)
        process = self.mesh.start_controller(wait=False)
        eventually(lambda: not process.running(), 10, "the controller gives up")
        self.assertIn("http-tokens: holds secrets", process.tail())
        self.assertIn("run: chmod 06", process.tail())

    def test_guessing_is_limited(self):
        statuses = [self.ask("/api/v1/status", "x" * 40).status for _ in range(22)]
        self.assertEqual(statuses[:20], [401] * 20)
        self.assertIn(429, statuses[20:])
        self.assertEqual(self.ask("/healthz").status, 200)
        self.assertEqual(self.ask("/api/v1/status", READ).status, 200, "others of this address are let in")

    def test_tls(self):
        with socket.create_connection((self.mesh.home, self.mesh.http_port), 5) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = plain.recv(65536)
        self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
        self.assertIn(b"https://", answer)
        with socket.create_connection((self.mesh.home, self.mesh.http_port), 5) as broken:
            broken.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600))
            broken.settimeout(5)
            try:
                broken.recv(65536)
            except OSError:
                pass
        eventually(lambda: self.refused("handshake") >= 1, 5, "a broken handshake is counted")
        self.assertEqual(self.refused("plain_http"), 1)
        for version, accepted in ((ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True),
                                  (ssl.TLSVersion.TLSv1_1, False)):
            context = self.context()
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of TLS 1.1
                context.minimum_version = context.maximum_version = version
            with socket.create_connection((self.mesh.home, self.mesh.http_port), 5) as plain:
                if accepted:
                    context.wrap_socket(plain, server_hostname=self.mesh.home).close()
                else:
                    with self.assertRaises((ssl.SSLError, ConnectionError)):
                        context.wrap_socket(plain, server_hostname=self.mesh.home)
        answer = self.ask("/")
        for header in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy",
                       "X-Frame-Options", "Cache-Control"):
            self.assertIn(header, answer.headers)

    def test_hostile_sizes(self):
        for request, status in ((b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"414"),
                                (b"GET / HTTP/1.1\r\nCookie: " + b"a" * 9000 + b"\r\n\r\n", b"431"),
                                (b"POST /api/v1/session HTTP/1.1\r\nContent-Length: 99999\r\n\r\n", b"413"),
                                (bytes(range(256)) * 8 + b"\r\n\r\n", b"400")):
            with self.connect() as peer:
                peer.sendall(request)
                self.assertEqual(peer.recv(65536).split()[1], status, request[:40])
        self.assertEqual(self.ask("/healthz").status, 200)

    def test_commands(self):
        def status(*options, **environment):
            return subprocess.run([binary("pingloom"), "status", *options], capture_output=True,
                                  text=True, timeout=30, env={**os.environ, **environment})

        url = f"https://{self.mesh.home}:{self.mesh.http_port}"
        ca, token = str(self.folder / "http.crt"), str(self.folder / "read-token")
        answer = status("--url", url, "--token-file", token)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--ca FILE", answer.stderr)
        answer = status("--url", url, "--ca", ca)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("401", answer.stderr)
        answer = status("--url", url, "--ca", ca, "--token-file", token)
        self.assertIn(answer.returncode, (0, 1), answer.stderr)
        self.assertIn("agents", answer.stdout)
        answer = status(PINGLOOM_URL=url, PINGLOOM_CA=ca, PINGLOOM_TOKEN_FILE=token)
        self.assertIn(answer.returncode, (0, 1), answer.stderr)
        answer = status("--url", url.replace("https", "http"), "--token-file", token)
        self.assertIn("speaks TLS", answer.stderr)
        os.chmod(token, 0o644)
        answer = status("--url", url, "--ca", ca, "--token-file", token)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("run: chmod 06", answer.stderr)


class OpenAddress(unittest.TestCase):
    """Beyond loopback: in a network of the test's own."""

    def setUp(self):
        private_network.enter()
        subprocess.run(["ip", "address", "add", "10.77.0.1/24", "dev", "lo"], check=True)
        subprocess.run(["ip", "address", "add", "10.77.0.2/24", "dev", "lo"], check=True)
        self.mesh = Mesh(self, hosts=2)
        self.mesh.controller_options = {}

    def start(self):
        path = self.mesh._write_controller_config()
        path.write_text(path.read_text().replace(f"http: {self.mesh.home}", "http: 10.77.0.1"))
        self.mesh._write_controller_config = lambda: path
        process = self.mesh.start_controller(wait=False)
        eventually(lambda: self.mesh._alive(process) and self.get() == 200, 20, "it answers")
        return process

    def get(self, source="10.77.0.1"):
        connection = http.client.HTTPConnection("10.77.0.1", self.mesh.http_port, timeout=5,
                                                source_address=(source, 0))
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def test_without_tokens_it_warns(self):
        log = self.start().tail(100)
        self.assertIn("ANYBODY who reaches this address can see all results, start bursts and silence incidents", log)
        self.assertIn("http_access", log)
        self.assertEqual(log.count("ANYBODY"), 1)

    def test_one_address_cannot_have_all(self):
        self.start()
        held = []
        self.addCleanup(lambda: [peer.close() for peer in held])
        for _ in range(400):
            peer = socket.create_connection(("10.77.0.1", self.mesh.http_port), 5,
                                            source_address=("10.77.0.2", 0))
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")  # and no more: slow on purpose
            held.append(peer)
        self.assertEqual(self.get("10.77.0.1"), 200, "another is served")
        self.assertEqual(self.get("10.77.0.2"), 0)
        for peer in held:
            peer.close()
        eventually(lambda: self.get("10.77.0.2") == 200, 10, "there is room again")

    def test_one_address_cannot_ask_all_the_time(self):
        self.start()
        connection = http.client.HTTPConnection("10.77.0.1", self.mesh.http_port, timeout=5,
                                                source_address=("10.77.0.2", 0))
        self.addCleanup(connection.close)
        statuses = []
        deadline = time.monotonic() + 30
        while 429 not in statuses and time.monotonic() < deadline:
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        self.assertEqual(statuses[-1], 429, f"after {len(statuses)}")
        self.assertGreaterEqual(len(statuses), 1000)
        self.assertEqual(response.headers["Retry-After"], "1")
        self.assertEqual(self.get("10.77.0.1"), 200, "another is served")
        eventually(lambda: self.get("10.77.0.2") == 200, 5, "it is served again")


if __name__ == "__main__":
    unittest.main()
