"""Every key of every configuration, every flag and every environment variable wrong in turn: one line that
names it and says what is expected, exit code 2, and nothing begun."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from processes import binary

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config"
# No key takes these. Lists and maps that are keys' own have their wrong content below.
NEVER = ("{ nonsense: 1 }", "[[[]]]")
KEY = "2f8d4c0a" * 5  # 40 characters of Z85
ACCESS = ("{ }", "{ tokens: '' }", "{ certificate: a.crt }", "{ key: a.key }", "x", "{ tokens: t, tokens: t }", "{ cert: a }")

# What a daemon cannot do without, and each key with what is wrong for it.
AGENT = "controller: 127.0.0.1:1\nhost: probed\nstate_dir: state\n", {
    "controller": ("''", "a:b:c", "host:0", "host:65536", "'[::1'", "'[10.0.0.1]:1'", "a b", "'host:'", "[]", "[a, a]", "[a, a b]"),
    "host": ("''", "a b", "'" + "x" * 300 + "'", "[a]"),
    "keys": ("x", "{ controller: a }", "{ secret: a.key }", "{ secret: a.key, controller: short }",
             "{ secret: a.key, controller: [] }", "{ secret: '', controller: x }", "{ secret: a, public: b }"),
    "addresses": ("[]", "10.0.0.1", "[10.0.0.256]", "[0.0.0.0]", "[10.0.0.1, 10.0.0.1]", "[fe80::1%lo]", "[name]"),
    "port": ("0", "65536", "-1", "1.5", "ssh", "''", "0x10", "99999999999999999999"),
    "state_dir": ("''", "[a]"),
    "http": ("8080", "localhost:80", "127.0.0.1", "127.0.0.1:65536", "':80'", "''"),
    "http_access": ACCESS,
    "log_level": ("''", "verbose", "INFO", "3"),
    "log": ("debug", "{ level: loud }", "{ rmda: debug }", "{ rdma: }", "{ rdma: debug, rdma: info }"),
    "results_log": ("yes", "{ }", "{ path: '' }", "{ path: r, max_size: 1KiB }", "{ path: r, files: 0 }", "{ path: r, size: 1MiB }"),
    "events": ("yes", "{ }", "{ translator: 10.0.0.9 }", "{ table: 2, reporter: -1 }", "{ table: 2, paths: 0 }", "{ table: 2, votes: 70000 }", "{ table: 2, key: '' }", "{ translator: 10.0.0.9, table: 0 }",
               "{ translator: t.example, table: 2 }", "{ translator: '10.0.0.9:x', table: 2 }",
               "{ translator: 10.0.0.9, table: 65536 }", "{ translator: 10.0.0.9, table: 2, list: 1 }"),
    "translator": ("yes", "{ }", "{ address: 10.0.0.1 }", "{ address: x, collector: 10.0.0.5 }",
                   "{ address: 10.0.0.1, collector: 10.0.0.5, http: 127.0.0.1:1 }",
                   "{ address: 10.0.0.1, collector: 10.0.0.5, name: A B }"),
    "rdma": ("auto", "{ device: '' }", "{ poll: often }", "{ mtu: 1500 }", "{ q_key: 0x80000000 }", "{ service_level: 16 }",
             "{ grh: maybe }", "{ p_key_index: -1 }", "{ flow_label: 1048576 }", "{ device: soft, impair: 5 }",
             "{ impair: [{ to: 10.0.0.1, loss: 1% }] }", "{ device: soft, impair: [{ to: 10.0.0.1, loss: 101% }] }",
             "{ device: soft, impair: [{ to: x }] }", "{ device: soft, impair: [{ to: 10.0.0.1, delay: 11s }] }"),
    "pages": ("yes", "{ address: x }", "{ port: 0 }", "{ socket: '' }", "{ socket: '" + "x" * 200 + "' }", "{ max_pages: 0 }",
              "{ max_pages_per_user: many }", "{ users: [] }", "{ groups: [no-such-group] }", "{ users: [no-such-user] }",
              "{ device: '' }", "{ system: 1 }", "{ system: }"),
    "spool": ("1GiB", "{ max_size: 1MiB }", "{ max_size: 65GiB }", "{ max_size: 10 MB }", "{ max_size: -1 }", "{ max_size: }"),
}
TABLE = "{ name: t, id: 1, kind: keyed, slots: 1000, value: 24B }"
COLLECTOR = "address: 127.0.0.1\nagents: [127.0.0.1]\n", {
    "address": ("[]", "x", "[10.0.0.1, x]", "''", "10.0.0.0/8"),
    "device": ("''", "mlx5_0/0", "mlx5_0/256", "[a]"),
    "controller": ("host:80", "ftp://host:80", "http://", "''", "http://host:99999", "[]", "[http://a, b]", "[http://a, http://a]",
                   "{ a: b }"),
    "advertise": ("''", "10.0.0.1:1", "http://10.0.0.1:20715"),  # without a controller
    "controller_token": ("''", "token"),
    "controller_ca": ("''", "ca.crt"),
    "agents": ("10.0.0.1", "[x]", "[{ interval: 1s }]", "[10.0.0.1, 10.0.0.1]", "[{ agent: 10.0.0.1, interval: 0s }]",
               "[10.0.0.1:0]", "[{ agent: 10.0.0.1, key: " + KEY + " }]"),
    "keys": ("x", "{ }", "{ secret: '' }", "{ public: a }"),
    "interval": ("0s", "2h", "-1s", "100", "1 s", "''", "999999999999999h"),
    "state_dir": ("''", "[a]"),
    "analytics": ("yes", "{ interval: 0s }", "{ limits: 3 }", "{ limits: [{ metric: a }] }",
                  "{ limits: [{ metric: a, above: x }] }", "{ limits: [{ metric: a, above: 1, samples: 4, of: 3 }] }",
                  "{ hold: never }", "{ slow_interval: 0s }"),
    "push": ("yes", "{ graphite: { url: 'http://a/b' } }", "{ remote_write: { } }", "{ remote_write: { url: 'ftp://a/b' } }",
             "{ remote_write: { url: 'http://a' } }", "{ remote_write: { url: 'http://u@a/b' } }",
             "{ remote_write: { url: 'http://a/b', interval: 0s } }", "{ otlp: { url: 'http://a/b', interval: 2h } }",
             "{ otlp: { url: 'http://a/b', token: '' } }", "{ otlp: { url: 'http://a/b', ca: '' } }",
             "{ otlp: { url: 'http://a/b', user: a } }", "{ otlp: { url: 'http://a/b', user: '', password: c } }",
             "{ otlp: { url: 'http://a/b', histograms: few } }"),
    "name": ("''", "'" + "x" * 300 + "'"),
    "http": AGENT[1]["http"],
    "http_access": ACCESS,
    "readers": ("0", "65", "-1", "1.5", "many", "[1]", "''"),
    "stores": ("[]", "rack-7", "[{ translator: rack-7 }]", "[{ translator: A, tables: [" + TABLE + "] }]", "[{ tables: [" + TABLE + "] }]",
               "[{ translator: a, tables: [] }]", "[{ translator: a, tables: [{ name: t }] }]",
               "[{ translator: a, tables: [" + TABLE.replace("keyed", "list") + "] }]",
               "[{ translator: a, tables: [" + TABLE.replace("24B", "121B") + "] }]",
               "[{ translator: a, tables: [{ name: t, id: 1, kind: lists, blocks: 3, entry: 8B }] }]",
               "[{ translator: a, tables: [{ name: t, id: 1, kind: lists, blocks: 4, entry: 241B }] }]",
               "[{ translator: a, tables: [{ name: t, id: 1, kind: counters, counters: 0 }] }]",
               "[{ translator: a, tables: [{ name: t, id: 1, kind: counters, counters: 9, watch: [a] }] }]",
               "[{ translator: a, tables: [{ name: t, id: 1, kind: paths, slots: 9, family: ipx }] }]",
               "[{ translator: a, tables: [" + TABLE.replace("id: 1", "id: 0") + "] }]",
               "[{ translator: a, tables: [" + TABLE + ", " + TABLE + "] }]", "[{ translator: a, key: short, tables: [" + TABLE + "] }]"),
    "stores_port": ("0", "65536", "-1", "1.5", "ssh", "''"),
    "url_file": ("''",),
    "log_level": AGENT[1]["log_level"],
    "log": AGENT[1]["log"],
}
CONTROLLER = "pinglist: pinglist.yaml\nstate_dir: state\nhttp: 127.0.0.1:0\ncontrol: 127.0.0.1:0\n", {
    "pinglist": ("''", "[a]"),
    "state_dir": ("''", "[a]"),
    "control": AGENT[1]["http"],
    "keys": ("x", "{ secret: a.key }", "{ authorized: a.yaml }", "{ secret: '', authorized: a }", "{ secret: a, authorized: '' }"),
    "http": AGENT[1]["http"],
    "http_access": ACCESS,
    "frame_ancestors": ("https://a.example", "[a.example]", "['https://a.example/path']", "['https://a b']", "[\"https://a; script-src *\"]"),
    "insecure": ("''", "maybe", "2"),
    "web_root": ("''", "[a]"),
    "url_file": ("''", "[a]"),
    "collectors": ("x", "[a]", "{ token: '' }", "{ ca: '' }", "{ tokens: a }"),
    "redis": ("''", "Embedded", "'unix:'", "tcp:host", "tcp:host:0", "tcp::6379", "127.0.0.1:6379", "unix:/" + "x" * 200,
              "{ sentinel: x }", "{ sentinel: { master: m } }", "{ sentinel: { hosts: ['a:1'] } }",
              "{ sentinel: { master: m, hosts: [] } }", "{ sentinel: { master: m, hosts: [a] } }",
              "{ sentinel: { master: m, hosts: ['a:1'], password_file: '' } }",
              "{ cluster: 'a:1' }", "{ cluster: [] }", "{ cluster: [a] }", "{ cluster: ['a:0'] }", "{ cluster: ['a:1'], host: a }",
              "{ cluster: ['a:1'], sentinel: { master: m, hosts: ['a:1'] } }"),
    "redis_socket": ("''", "/" + "x" * 200),
    "redis_user": ("someone",),  # an embedded Redis has none
    "redis_password_file": ("''", "secret"),
    "redis_tls": ("x", "{ ca: '' }", "{ certificate: a.pem }", "{ key: a.pem }",
                  "{ ca: a.pem }"),  # an embedded Redis has none
    "alerts": ("x", "{ name: a }", "[{ name: a, kind: nosuch }]"),
    "limits": ("1", "{ rows_per_second: 0 }", "{ pings_per_second_per_host: many }", "{ history_bytes_per_day: 5 GB }",
               "{ rows: 1 }"),
    "history": ("7d", "{ retention: 1s }", "{ retention: long }", "{ max_size: 1MiB }", "{ max_size: 4TB }", "{ age: 7d }",
                "{ postgres: db }", "{ postgres: { hosts: [a], database: '' } }"),
    "cluster": ("a", "{ }", "{ name: a }", "{ address: a:1 }", "{ name: a b, address: a:1 }", "{ name: a, address: a }",
                "{ name: a, address: a:1 }"),  # the last one lacks PostgreSQL
    "log_level": AGENT[1]["log_level"],
    "log": AGENT[1]["log"],
}
TRANSLATOR = "address: 127.0.0.1\ncollector: 127.0.0.1:1\nname: t\n", {
    "address": ("x", "''", "[10.0.0.1]", "10.0.0.0/8"),
    "device": COLLECTOR[1]["device"],
    "collector": AGENT[1]["controller"],
    "name": ("''", "A", "a b", "'" + "x" * 64 + "'"),
    "listen": AGENT[1]["http"],
    "threads": ("0", "17", "-1", "many", "1.5"),
    "reporters": ("[]", "7", "[7]", "[{ }]", "[{ addresses: [10.0.0.1] }]", "[{ id: -1 }]", "[{ id: 4294967296 }]", "[{ id: 1 }, { id: 1 }]",
                  "[{ id: 1, addresses: [] }]", "[{ id: 1, addresses: 10.0.0.1 }]", "[{ id: 1, addresses: [host] }]",
                  "[{ id: 1, addresses: [10.0.0.1/24] }]", "[{ id: 1, addresses: [10.0.0.0/33] }]", "[{ id: 1, tables: [] }]",
                  "[{ id: 1, tables: [A] }]", "[{ id: 1, key: '' }]", "[{ id: 1, name: x }]"),
    "published": ("x", "{ }", "{ tables: { } }", "{ tables: { key-write: '' } }", "{ tables: { keywrite: t } }", "{ tables: t }",
                  "{ listen: 127.0.0.1, tables: { key-write: t } }", "{ addresses: [], tables: { key-write: t } }"),
    "keys": ("x", "{ }", "{ secret: '' }", "{ secret: a.key }", "{ secret: a.key, collector: short }", "{ public: a }"),
    "http": AGENT[1]["http"],
    "http_access": ACCESS,
    "url_file": ("''",),
    "log_level": AGENT[1]["log_level"],
    "log": AGENT[1]["log"],
}
DAEMONS = {"agent": AGENT, "collector": COLLECTOR, "controller": CONTROLLER, "translator": TRANSLATOR}


class BadInput(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pingloom-bad-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def refused(self, *arguments, names, environment=None):
        """Exit code 2, and one line that has all of `names`."""
        before = sorted(self.directory.iterdir())
        done = subprocess.run([binary(arguments[0]), *arguments[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=20, cwd=self.directory, env={**os.environ, **(environment or {})}, check=False)
        said = f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, 2, said)
        self.assertEqual(done.stdout, "", said)
        self.assertEqual(len(done.stderr.splitlines()), 1, said)
        self.assertTrue(done.stderr.startswith(arguments[0]), said)
        for name in names:
            self.assertIn(name, done.stderr, said)
        self.assertEqual(sorted(self.directory.iterdir()), before, "it began something: " + said)


class Configurations(BadInput):
    def one_key(self, daemon, base, key, wrong):
        text = "".join(line + "\n" for line in base.splitlines() if not line.startswith(key + ":"))
        line = text.count("\n") + 2
        path = self.directory / f"{daemon}.yaml"
        path.write_text(f"{text}# the next one is wrong\n{key}: {wrong}\n")
        self.refused(f"pingloom-{daemon}", "--config", path.name, names=(f"{path.name}:{line}:", key))

    def test_every_key(self):
        for daemon, (base, keys) in DAEMONS.items():
            for key, wrongs in keys.items():
                for wrong in (*NEVER, *wrongs):
                    with self.subTest(daemon=daemon, key=key, wrong=wrong):
                        self.one_key(daemon, base, key, wrong)

    def test_no_key_is_left_out(self):
        for daemon, (_, keys) in DAEMONS.items():
            shown = re.findall(r"^(?:# ?)?([a-z_]+):(?: |$)", (CONFIG / f"{daemon}.yaml").read_text(), re.MULTILINE)
            with self.subTest(daemon=daemon):
                shown = set(shown) - {"certificate", "impair"}  # words of its prose
                self.assertEqual(sorted(shown), sorted(keys))

    def test_files_that_are_none(self):
        texts = {"nothing": b"", "a list": b"- a\n", "a word": b"word", "cut": b"controller: [", "a tab": b"a:\n\t- b\n",
                 "bytes": b"\xff\xfe\x00", "an unknown key": b"no_such_key: 1\n", "twice": b"log_level: info\nlog_level: info\n",
                 "two documents": b"a: 1\n---\nb: 2\n", "larger than it may be": b"#" * ((1 << 20) + 1)}
        for daemon in DAEMONS:
            for what, text in texts.items():
                with self.subTest(daemon=daemon, what=what):
                    path = self.directory / f"{daemon}.yaml"
                    path.write_bytes(text)
                    self.refused(f"pingloom-{daemon}", "--config", path.name, names=(path.name,))
                    path.unlink()
            for path in ("missing.yaml", "."):
                with self.subTest(daemon=daemon, path=path):
                    self.refused(f"pingloom-{daemon}", "--config", path, names=(path,))


COMMANDS = [("pingloom-agent",), ("pingloom-collector",), ("pingloom-controller",), ("pingloom-translator",), ("pingloom",)] + [
    ("pingloom", *words) for words in (("check",), ("controllers",), ("devices",), ("mesh",), ("pages",), ("ping",), ("plan",), ("read",),
                                       ("results",), ("status",), ("top",), ("path",), ("fabric",), ("events",), ("keys",), ("keys", "generate"), ("keys", "show"),
                                       ("keys", "authorize"), ("keys", "revoke"), ("keys", "list"), ("keys", "reporter"), ("history",), ("history", "copy"), ("incidents",),
                                       ("incidents", "ack"), ("silence",), ("silence", "add"), ("silence", "remove"),
                                       ("silence", "list"), ("maintenance",), ("maintenance", "begin"),
                                       ("maintenance", "end"), ("maintenance", "list"), ("dta",), ("dta", "tables"), ("dta", "get"),
                                       ("dta", "count"), ("dta", "top"), ("dta", "path"), ("dta", "tail"),
                                       ("dta", "status"), ("dta", "inspect"))]
PING = ("pingloom", "ping", "udp", "127.0.0.1")
READ = ("pingloom", "read", "127.0.0.1:test")
AUTHORIZE = ("pingloom", "keys", "authorize", KEY, "--file", "keys.yaml")
# What is wrong is the last word, of the option before it.
VALUES = [(*PING, "--count", value) for value in ("0", "-1", "many", "1000001", "")] + \
         [(*PING, "--interval", value) for value in ("0s", "-1s", "1", "fast", "")] + \
         [(*PING, "--timeout", value) for value in ("0s", "11s", "x")] + \
         [(*PING, "--port", value) for value in ("0", "65536", "ssh")] + \
         [(*PING, "--traffic-class", value) for value in ("256", "-1", "EF")] + \
         [(*PING, "--payload", value) for value in ("0", "100000", "x")] + \
         [(*PING, "--source", value) for value in ("nobody", "10.0.0.256", "")] + \
         [("pingloom", "ping", "rdma", "127.0.0.1", "--device", value) for value in ("soft/0", "soft/x")] + \
         [(*READ, option, value) for option in ("--bytes", "--count", "--depth", "--port") for value in ("-1", "x", "9999999999")] + \
         [(*READ, "--source", "nobody")] + \
         [("pingloom", "top", "--once", "--sort", value) for value in ("", "speed")] + \
         [("pingloom", "top", "--once", "--number", value) for value in ("x", "")] + \
         [("pingloom", "devices", "--address", "nobody")] + \
         [("pingloom", "results", "--src", "nobody"), ("pingloom", "results", "--dst", "10.0.0.256")] + \
         [("pingloom", "results", "--redis", value) for value in ("nonsense", "tcp:host", "unix:relative", "", "cluster:a", "sentinel:a:1")] + \
         [("pingloom", "results", "--redis", "tcp:127.0.0.1:1", option, "missing")
          for option in ("--redis-ca", "--redis-certificate", "--redis-key", "--redis-sentinel-password-file")] + \
         [("pingloom", "results", "--redis-password-file", "missing")] + \
         [("pingloom", "silence", "add", "host=a", "--for", value) for value in ("2", "-1h", "")] + \
         [("pingloom", "silence", "add", "host=a", "--until", value) for value in ("soon", "2020-01-01T00:00:00Z", "")] + \
         [("pingloom", "incidents", "--past", option, value) for option in ("--from", "--to") for value in ("soon", "")] + \
         [("pingloom", "incidents", "--past", "--number", value) for value in ("0", "x")] + \
         [("pingloom", "events", option, value) for option, values in (
             ("--number", ("0", "x")), ("--from", ("soon", "")), ("--to", ("soon",)), ("--src", ("nobody",)), ("--dst", ("10.0.0.256",)))
          for value in values] + \
         [(*AUTHORIZE, "--role", value) for value in ("king", "")] + \
         [(*AUTHORIZE, "--role", "agent", "--host", "a", "--addresses", value) for value in ("10.0.0.256", "name", "")] + \
         [("pingloom", command, option, value) for command in ("status", "mesh", "pages", "incidents")
          for option, values in (("--url", ("nonsense", "ftp://host", "http://", "http://host:x", "http://host:99999", "")),
                                 ("--token-file", ("missing", "/")), ("--ca", ("missing",))) for value in values]
VARIABLES = [(("pingloom", "status"), "PINGLOOM_URL", value) for value in ("nonsense", "ftp://host", "http://host:x")] + \
            [(("pingloom", "results"), "PINGLOOM_REDIS", value) for value in ("nonsense", "tcp:host:0", "unix:relative")] + \
            [(("pingloom", "status"), "PINGLOOM_TOKEN_FILE", "missing"), (("pingloom", "status"), "PINGLOOM_CA", "missing")]


class CommandLines(BadInput):
    def options(self, command):
        """{--name: whether it has a value}, as its help has them."""
        shown = subprocess.run([binary(command[0]), *command[1:], "--help"], capture_output=True, text=True, timeout=20,
                               check=True).stdout
        return {name: bool(value) for name, value in re.findall(r"^  (?:-\w \[ )?(--[a-z-]+)(?: \])?( [a-zA-Z]+| \(=)?",
                                                                  shown, re.MULTILINE)}

    def test_every_option(self):
        for command in COMMANDS:
            options = self.options(command)
            self.assertIn("--help", options)
            for option, has_value in {**options, "--no-such-option": False}.items():
                with self.subTest(command=command, option=option):
                    wrong = option if has_value or option == "--no-such-option" else option + "=1"
                    self.refused(*command, wrong, names=(option,))

    def test_every_value(self):
        for words in VALUES:
            with self.subTest(words=words):
                self.refused(*words, names=(words[-2],))

    def test_every_variable(self):
        for command, variable, value in VARIABLES:
            with self.subTest(variable=variable, value=value):
                self.refused(*command, names=(variable, value), environment={variable: value})

    def test_words(self):
        for words, named in (((), "Usage"), (("pign",), "ping"), (("ping", "icmp", "127.0.0.1"), "icmp"), (("ping", "udp"), "host"),
                             (("ping",), "protocol"), (("plan", "missing.yaml", "--host", "a"), "missing.yaml"), (("keys", "forge"), "forge"),
                             (("check", "missing.yaml"), "missing.yaml"), (("status", "now"), "too many"), (("read", "host"), "host"),
                             (("keys", "authorize", "abc", "--file", "keys.yaml", "--role", "agent", "--host", "a"), "abc")):
            with self.subTest(words=words):
                done = subprocess.run([binary("pingloom"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=20, cwd=self.directory, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(named, done.stderr)


if __name__ == "__main__":
    unittest.main()
