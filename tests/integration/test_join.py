"""Joining: with a token a new host's key is authorised and in force at once; a token that has expired, is used up, was
revoked or forged lets nobody in, and is good for nothing but joining; a person may decide instead."""

import json
import re
import time
import unittest

import history
from mesh import Mesh, free_port
from processes import binary, eventually


class Join(unittest.TestCase):
    def prepare(self, hosts=2):
        self.mesh = Mesh(self, hosts=hosts, interval="100ms", window="1s")
        self.list = self.mesh.directory / "keys" / "authorized_keys.yaml"
        self.list.parent.mkdir()
        line = self.cli("prepare", "--key", self.key_file("controller"), "--file", self.list).stdout
        name, _, value = line.strip().partition(": ")
        self.assertEqual(name, "keys")
        self.mesh.controller_options["keys"] = value
        self.mesh.start_controller()

    def key_file(self, name):
        return self.mesh.directory / f"{name}.key"

    def cli(self, *arguments, code=0):
        done = self.mesh.cli("keys", *map(str, arguments))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def config(self):
        return ("--config", self.mesh.directory / "controller.yaml")

    def token(self, *options):
        return self.cli("token", "create", *self.config(), *options).stdout.strip()

    def join(self, index, token, code=0):
        """Joins as install.sh does: the line that is printed belongs into the agent's configuration."""
        self.mesh.agent_options.pop(index, None)
        path = self.mesh.write_agent_config(index)
        done = self.cli("join", "--config", path, "--key", self.key_file(f"host-{index}"), token, code=code)
        if done.stdout:
            name, _, value = done.stdout.strip().partition(": ")
            self.assertEqual(name, "keys")
            self.mesh.agent_options[index] = {"keys": value}
        return done

    def refused(self, reason):
        return self.mesh.controller_metrics()[f'pingloom_controller_peers_refused_total{{reason="{reason}"}}']

    def joins(self, outcome):
        return self.mesh.controller_metrics()[f'pingloom_controller_joins_total{{outcome="{outcome}"}}']

    def alive(self):
        return {host for host, about in self.mesh.hosts().items() if about["alive"]}

    def public_key(self, index):
        return self.cli("show", self.key_file(f"host-{index}")).stdout.strip()

    def test_hosts_with_a_token_form_a_mesh(self):
        self.prepare()
        token = self.token()
        for index in range(2):
            began = time.monotonic()
            self.join(index, token)
            print(f"\njoined after {time.monotonic() - began:.2f} s")
            self.mesh.start_agent(index)
        self.mesh.wait_for_rows(state="ok")
        self.assertEqual(self.mesh.status()["keys"], {"in_use": True, "exposed": False, "authorized": 2, "waiting": 0})
        about = self.mesh.hosts()
        for index in range(2):
            self.assertEqual(about[f"host-{index}"]["public_key"], self.public_key(index))
        # Joining again is no change.
        before = self.list.read_text()
        self.join(0, token)
        self.assertEqual(self.list.read_text(), before)
        eventually(lambda: self.joins("authorized") == 3, 5, "they are counted")
        listed = json.loads(self.cli("token", "list", *self.config(), "--json").stdout)["tokens"]
        self.assertEqual([(one["state"], one["used"]) for one in listed], [("valid", 2)])
        # Nobody finds the token's secret at the controller.
        secret = token[len("pingloom-join-") + 64:][:64]
        for path in self.list.parent.iterdir():
            self.assertNotIn(secret, path.read_text())
        self.assertNotIn(token, self.mesh.controller.log())

    def test_a_token_is_for_so_many_hosts(self):
        self.prepare()
        token = self.token("--uses", "1")
        self.join(0, token)
        said = self.join(1, token, code=1).stderr
        self.assertIn("has expired, is used up or was revoked", said)
        eventually(lambda: self.refused("token_used_up") >= 1, 5, "it is counted")
        self.assertFalse(self.key_file("host-1").exists(), "a key that nobody knows is of no use")
        self.join(0, token)  # the host that has joined is let in
        self.mesh.start_agent(0)
        eventually(lambda: self.alive() == {"host-0"}, 20, "it is there")

    def test_an_expired_revoked_or_forged_token_lets_nobody_in(self):
        self.prepare()
        short = self.token("--expires", "1s")
        revoked = self.token()
        self.join(1, revoked)
        self.cli("token", "revoke", *self.config(), revoked)
        eventually(lambda: "expired" in self.cli("token", "list", *self.config()).stdout, 5, "it has expired")
        # The controller's key is right, and the token's own is made up: another controller's token has such a key.
        other = self.mesh.directory / "other"
        other.mkdir()
        self.cli("prepare", "--key", other / "controller.key", "--file", other / "list.yaml")
        (other / "controller.key.pub").write_text((self.mesh.directory / "controller.key.pub").read_text())
        config = other / "controller.yaml"
        config.write_text(f"pinglist: p\nstate_dir: s\nkeys: {{ secret: {other}/controller.key, authorized: {other}/list.yaml }}\n")
        forged = self.cli("token", "create", "--config", config).stdout.strip()
        for token, reason in ((short, "token_expired"), (revoked, "revoked"), (forged, "unknown_key")):
            before = self.refused(reason)
            self.assertIn("does not accept the token", self.join(0, token, code=1).stderr)
            eventually(lambda: self.refused(reason) > before, 5, reason)
        eventually(lambda: self.joins("authorized") == 1, 5, "they are counted")
        lines = [line for line in self.mesh.controller.log().splitlines() if "refused" in line]
        self.assertEqual(len(lines), 1, "one line for each address and minute")
        changed = revoked[:-1] + ("0" if revoked[-1] != "0" else "1")
        for token, said in ((changed, "it was changed on its way here"), ("x", "is no join token"), (revoked[:50], "is no whole join token")):
            self.assertIn(said, self.join(0, token, code=2).stderr)

    def test_nobody_gets_what_belongs_to_another_host(self):
        self.prepare()
        token = self.token()
        self.join(0, token)
        for name, addresses, said in (("host-0", f"{self.mesh.subnet}.77", "has another key"),
                                      ("thief", self.mesh.addresses[0], "belongs to the key of the host 'host-0'")):
            path = self.mesh.directory / "thief.yaml"
            path.write_text(f"controller: {self.mesh.home}:{self.mesh.control_port}\nhost: {name}\naddresses: [{addresses}]\n")
            done = self.cli("join", "--config", path, "--key", self.key_file("thief"), token, code=1)
            self.assertIn(said, done.stderr)
            self.key_file("thief").unlink()
            (self.mesh.directory / "thief.key.pub").unlink()
        eventually(lambda: (self.joins("host_taken"), self.joins("address_taken"), self.refused("join_refused")) == (1, 1, 2), 5,
                   "they are counted")
        # After a revocation its successor may join.
        self.cli("revoke", *self.config(), "host-0")
        self.key_file("host-0").unlink()
        (self.mesh.directory / "host-0.key.pub").unlink()
        self.join(0, token)

    def test_a_token_is_good_for_nothing_but_joining(self):
        self.prepare(hosts=1)
        token = self.token()
        secret = self.mesh.directory / "token.key"
        # The key pair of the token as an agent's: the check needs no knowledge of the format beyond its layout.
        self.cli("generate", secret)
        made = bytes.fromhex(token[len("pingloom-join-"):])
        secret.write_text("pingloom-secret-key " + z85(made[32:64]) + "\n")
        controller = (self.mesh.directory / "controller.key.pub").read_text().strip()
        self.mesh.agent_options[0] = {"keys": f"{{ secret: {secret}, controller: '{controller}' }}"}
        self.mesh.start_agent(0)
        eventually(lambda: self.refused("join_only") >= 2, 20, "it is refused and counted")
        self.assertIn("a join token is for joining only", self.mesh.agents[0].log())
        self.assertEqual(self.mesh.hosts(), {})

    def test_a_person_decides(self):
        self.prepare()
        token = self.token("--manual")
        for index in range(2):
            self.assertIn("pingloom keys approve host-", self.join(index, token, code=3).stderr)
            self.mesh.start_agent(index)
        pending = json.loads(self.cli("pending", *self.config(), "--json").stdout)["pending"]
        self.assertEqual([(one["host"], one["state"], one["addresses"]) for one in pending],
                         [(f"host-{index}", "waiting", [self.mesh.addresses[index]]) for index in range(2)])
        eventually(lambda: self.mesh.status()["keys"]["waiting"] == 2, 5, "the status shows them")
        eventually(lambda: self.refused("waiting") >= 1, 10, "nobody is let in yet")
        self.assertEqual(self.mesh.hosts(), {})
        self.cli("approve", *self.config(), "host-0")
        began = time.monotonic()
        eventually(lambda: self.alive() == {"host-0"}, 20, "it is let in")
        print(f"\napproved, and registered after {time.monotonic() - began:.2f} s")
        self.cli("reject", *self.config(), self.public_key(1))
        eventually(lambda: self.refused("rejected") >= 1, 20, "the other one is refused")
        self.assertIn("was rejected", self.join(1, token, code=1).stderr)
        self.assertEqual(self.alive(), {"host-0"})
        self.cli("approve", *self.config(), self.public_key(1))  # a mistake can be mended
        eventually(lambda: self.alive() == {"host-0", "host-1"}, 20, "now it is let in")
        self.cli("approve", *self.config(), "host-1", code=1)

    def test_a_collector_joins(self):
        self.prepare(hosts=1)
        path = self.mesh.directory / "collector.yaml"
        path.write_text(f"address: {self.mesh.subnet}.200\ndevice: soft\nname: dpu-1\ncontroller: {self.mesh.url}\n")
        token = self.token("--role", "collector")
        done = self.cli("join", "--role", "collector", "--config", path, "--controller",
                        f"{self.mesh.home}:{self.mesh.control_port}", "--key", self.key_file("collector"), token)
        self.assertRegex(done.stdout, r"^keys: \{ secret: \"[^\"]+\" \}\n$")
        entry = json.loads(self.cli("list", *self.config(), "--json").stdout)["keys"][0]
        self.assertEqual((entry["role"], entry["name"], entry["host"]), ("collector", "dpu-1", ""))
        self.assertIn("is for the role collector", self.join(0, token, code=1).stderr)

    def test_keys_are_introduced_without_a_gap(self):
        """An installation without keys gets them host by host, while all of it goes on."""
        self.prepare()
        mesh = self.mesh
        keyed = mesh.controller_options.pop("keys")
        mesh.controller.stop()
        mesh.start()
        mesh.wait_for_rows(state="ok")
        # The controller gets its key, and a second port for those who have one.
        mesh.controller.stop()
        plaintext, mesh.control_port = mesh.control_port, free_port()
        mesh.controller_options["keys"] = keyed.rstrip("} ") + f", plaintext: {mesh.home}:{plaintext} }}"
        mesh.start_controller()
        both = {"host-0", "host-1"}
        eventually(lambda: self.alive() == both, 20, "those without a key go on")
        self.assertFalse(mesh.status()["keys"]["exposed"], "it is loopback")
        token = self.token()
        for index in range(2):
            self.join(index, token)
            self.assertIn(f"host-{index}", self.alive(), "it goes on until it is restarted with its key")
            mesh.agents[index].stop()
            mesh.start_agent(index)
            eventually(lambda index=index: mesh.hosts()[f"host-{index}"]["public_key"] == self.public_key(index), 20, "it has a key")
        # What has a key is not given to anybody without one.
        thief = mesh.directory / "thief.yaml"
        thief.write_text(f"controller: {mesh.home}:{plaintext}\nhost: thief\naddresses: [{mesh.addresses[0]}]\nport: {free_port()}\n"
                         f"state_dir: {mesh.directory}/thief\n")
        process = mesh.run("thief", binary("pingloom-agent"), "--config", str(thief))
        eventually(lambda: self.refused("address_not_authorized") > 0, 20, "it is refused")
        process.kill()
        # The port for those without is closed, and nothing was lost on the way.
        mesh.controller.stop()
        mesh.controller_options["keys"] = keyed
        mesh.start_controller()
        eventually(lambda: self.alive() == both, 20, "all are there, with keys")
        eventually(lambda: all(mesh.agent_metrics(index)["pingloom_agent_spool_batches"] == 0 for index in range(2)), 20, "all is delivered")
        for source in mesh.addresses:
            history.assert_contiguous(self, mesh, "udp", source, 11)

    def test_an_agent_joins_by_itself_at_its_first_start(self):
        self.prepare(hosts=1)
        token = self.mesh.directory / "token"
        token.write_text(self.token("--uses", "1") + "\n")
        token.chmod(0o600)
        self.mesh.agent_options[0] = {"keys": f"{{ secret: {self.key_file('host-0')}, join: {token} }}"}
        self.mesh.start_agent(0)
        eventually(lambda: self.alive() == {"host-0"}, 20, "it has joined")
        self.assertEqual(self.mesh.hosts()["host-0"]["public_key"], self.public_key(0))
        # The token is used up now, and may stay there, or go.
        for gone in (False, True):
            if gone:
                token.unlink()
            self.mesh.agents[0].stop()
            self.mesh.start_agent(0)
            eventually(lambda: self.alive() == {"host-0"}, 20, "it is back")
        eventually(lambda: self.joins("authorized") == 1, 5, "they are counted")

    def test_a_controller_without_keys_stays_on_loopback(self):
        self.prepare(hosts=1)
        self.mesh.controller.stop()
        path = self.mesh.directory / "exposed.yaml"
        text = (f"pinglist: {self.mesh.pinglist_path}\nstate_dir: {self.mesh.directory}/exposed\ncontrol: 0.0.0.0:{self.mesh.control_port}\n"
                f"http: {self.mesh.home}:{self.mesh.http_port}\nredis_socket: {self.mesh.directory}/exposed.sock\n")
        path.write_text(text)
        process = self.mesh.run("exposed", binary("pingloom-controller"), "--config", str(path))
        self.assertEqual(process.process.wait(20), 2)
        self.assertIn("run `pingloom keys prepare`", process.log())
        path.write_text(text + "insecure: true\n")
        process = self.mesh.run("insecure", binary("pingloom-controller"), "--config", str(path))
        eventually(lambda: self.mesh.get("/healthz").status == 200, 20, "it serves")
        self.assertIn("WITHOUT KEYS", process.log())
        self.assertTrue(self.mesh.status()["keys"]["exposed"])
        self.assertRegex(self.mesh.cli("status", "--url", self.mesh.url).stdout, re.compile("^warning +WITHOUT KEYS", re.M))


def z85(data):
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    text = ""
    for at in range(0, len(data), 4):
        number = int.from_bytes(data[at:at + 4], "big")
        text += "".join(digits[number // 85 ** power % 85] for power in (4, 3, 2, 1, 0))
    return text


if __name__ == "__main__":
    unittest.main()
