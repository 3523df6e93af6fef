"""Keys: an encrypted mesh; who has no key, another's, or one that was revoked is refused, counted and told so; keys are
replaced while results go on."""

import os
import re
import signal
import socket
import threading
import unittest

import history
from mesh import Mesh, free_port
from processes import binary, eventually
from zmtp import Dealer

# 10, and one more: where handshakes are slow (sanitizers), what an agent takes for the new controller's clock is up to one
# interval beside what it took for the old one's.
WINDOW_PINGS = 11


class Recorder:
    """Between an agent and its controller: hands on what both say, and keeps it."""

    def __init__(self, listen, to):
        self.to = to
        self.recorded = bytearray()
        self.server = socket.create_server(listen)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                inner, _ = self.server.accept()
                outer = socket.create_connection(self.to, 5)
            except OSError:
                return
            for source, sink in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.hand_on, args=(source, sink), daemon=True).start()

    def hand_on(self, source, sink):
        try:
            while data := source.recv(65536):
                self.recorded += data
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            end.close()

    def close(self):
        self.server.close()


class Keys(unittest.TestCase):
    def prepare(self, hosts=3):
        self.mesh = Mesh(self, hosts=hosts, interval="100ms", window="1s")
        self.list = self.mesh.directory / "authorized_keys.yaml"
        self.controller_key = self.generate("controller")
        self.mesh.controller_options["keys"] = (
            f"{{ secret: {self.key_file('controller')}, authorized: {self.list} }}")
        self.keys = {}
        for index in range(hosts):
            self.give_key(index, f"host-{index}")
            self.authorize(index)

    def key_file(self, name):
        return self.mesh.directory / f"{name}.key"

    def cli(self, *arguments, code=0):
        done = self.mesh.cli("keys", *map(str, arguments))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def generate(self, name):
        return self.cli("generate", self.key_file(name)).stdout.strip()

    def give_key(self, index, name, controller=None):
        if not self.key_file(name).exists():
            self.keys[index] = self.generate(name)
        known = controller or self.controller_key
        self.mesh.agent_options[index] = {"keys": f"{{ secret: {self.key_file(name)}, controller: {known} }}"}

    def authorize(self, index, key=None):
        self.cli("authorize", "--file", self.list, "--role", "agent", "--host", f"host-{index}", "--addresses",
                 self.mesh.addresses[index], key or self.keys[index])

    def refused(self, reason):
        return self.mesh.controller_metrics()[f'pingloom_controller_peers_refused_total{{reason="{reason}"}}']

    def alive(self):
        return {host for host, about in self.mesh.hosts().items() if about["alive"]}

    def test_nobody_without_a_key_gets_in_or_reads_along(self):
        self.prepare()
        mesh = self.mesh
        port = free_port()
        recorder = Recorder((mesh.home, port), (mesh.home, mesh.control_port))
        self.addCleanup(recorder.close)
        mesh.agent_options[0]["controller"] = f"{mesh.home}:{port}"
        mesh.start()
        mesh.wait_for_rows(state="ok")
        self.assertEqual({host: about["public_key"] for host, about in mesh.hosts().items()},
                         {f"host-{index}": key for index, key in self.keys.items()})
        self.assertGreater(len(recorder.recorded), 1000)
        self.assertIn(b"CURVE", recorder.recorded)
        for secret in (b"host-0", b"udp", socket.inet_aton(mesh.addresses[1])):
            self.assertNotIn(secret, recorder.recorded)

        before = self.refused("no_curve")
        for _ in range(5):
            with self.assertRaises((EOFError, OSError)):
                Dealer(mesh.home, mesh.control_port).send(b"")
                Dealer(mesh.home, mesh.control_port).receive()
        eventually(lambda: self.refused("no_curve") >= before + 5, 10, "plaintext is counted")
        # An agent of ours that does not encrypt, too; it is told so in its own log only as being unreachable.
        del mesh.agent_options[2]["keys"]
        mesh.agents[2].stop()
        mesh.start_agent(2)
        total = lambda: self.refused("no_curve") + self.refused("hung_up")
        before = total()
        eventually(lambda: "host-2" not in self.alive(), 10, "it has said goodbye")
        eventually(lambda: total() >= before + 2, 20, "the plaintext agent is counted, each time that it tries")
        self.assertNotIn("host-2", self.alive())
        warnings = [line for line in mesh.controller.log().splitlines() if "does not encrypt" in line]
        self.assertLessEqual(len(warnings), 2, "one for each address and minute")

    def test_a_stranger_is_refused_until_it_is_authorised(self):
        self.prepare()
        self.cli("revoke", "--file", self.list, self.keys[2])
        self.mesh.start()
        eventually(lambda: "does not authorise this agent's key " + self.keys[2] in self.mesh.agents[2].log(), 20,
                   "the stranger says why")
        eventually(lambda: self.refused("unknown_key") > 0, 10, "it is counted")
        eventually(lambda: self.alive() == {"host-0", "host-1"}, 20, "the others are there")
        self.authorize(2)
        self.mesh.wait_for_rows(state="ok")

    def test_a_stolen_key_speaks_for_nobody_else(self):
        self.prepare()
        self.mesh.start()
        self.mesh.wait_for_rows(state="ok")
        for host, addresses, reason in (("host-0", self.mesh.addresses[1], "address_not_authorized"),
                                        ("host-1", self.mesh.addresses[0], "host_not_authorized"),
                                        ("new", self.mesh.addresses[0], "host_not_authorized")):
            before = self.refused(reason)
            thief = self.mesh.directory / "thief.yaml"
            thief.write_text(f"""controller: {self.mesh.home}:{self.mesh.control_port}
host: {host}
addresses: [{addresses}]
port: {free_port()}
state_dir: {self.mesh.directory}/thief-{reason}-{host}
keys: {{ secret: {self.key_file("host-0")}, controller: {self.controller_key} }}
""")
            process = self.mesh.run("thief", binary("pingloom-agent"), "--config", str(thief))
            eventually(lambda: self.refused(reason) > before, 20, f"{host} at {addresses} is refused")
            eventually(lambda: "NOT_AUTHORIZED" in process.log(), 10, "the thief is told")
            process.kill()
        about = self.mesh.hosts()
        self.assertEqual(set(about), {"host-0", "host-1", "host-2"})
        self.assertEqual([a["address"] for a in about["host-1"]["addresses"]], [self.mesh.addresses[1]])
        self.assertEqual(about["host-1"]["public_key"], self.keys[1])
        self.assertIn("host-1", self.alive())

    def test_revoking_takes_effect_at_once_and_a_broken_list_does_not(self):
        self.prepare()
        self.mesh.start()
        self.mesh.wait_for_rows(state="ok")
        good = self.list.read_text()
        self.list.write_text("keys: [\n")
        name = "pingloom_controller_authorized_keys_last_reload_successful"
        eventually(lambda: self.mesh.controller_metrics()[name] == 0, 5, "the broken list is noticed")
        self.assertEqual(self.mesh.controller.log().count("the keys from before stay authorised"), 1)
        self.assertEqual(self.alive(), {"host-0", "host-1", "host-2"})
        self.list.write_text(good)
        eventually(lambda: self.mesh.controller_metrics()[name] == 1, 5, "the good list is noticed")
        self.cli("revoke", "--file", self.list, self.keys[2])
        eventually(lambda: "host-2" not in self.alive(), 3, "its lease ends")
        eventually(lambda: self.refused("revoked") > 0, 5, "it is counted")
        eventually(lambda: "NOT_AUTHORIZED" in self.mesh.agents[2].log(), 5, "it is told")
        self.assertEqual(self.alive(), {"host-0", "host-1"})
        self.authorize(2)
        eventually(lambda: "host-2" in self.alive(), 10, "it may come back")

    def delivered(self):
        return all(self.mesh.agent_metrics(index)["pingloom_agent_spool_batches"] == 0
                   and self.mesh.agent_metrics(index)["pingloom_agent_controller_connected"] == 1
                   for index in self.mesh.agents)

    def reload_agent(self, index):
        self.mesh.write_agent_config(index)
        agent = self.mesh.agents[index]
        said = f"agent-{index}.yaml is in force"
        before = agent.log().count(said)
        agent.process.send_signal(signal.SIGHUP)
        eventually(lambda: agent.log().count(said) > before, 10, said)

    def test_a_new_controller_with_another_key_is_taken_by_a_reload(self):
        self.prepare(hosts=2)
        mesh = self.mesh
        mesh.start()
        mesh.wait_for_rows(state="ok")
        mesh.controller.stop()
        new_controller = self.generate("controller-2")
        mesh.controller_options["keys"] = (
            f"{{ secret: {self.key_file('controller-2')}, authorized: {self.list} }}")
        mesh.control_port = free_port()
        mesh.start_controller()
        for index in self.keys:
            self.give_key(index, f"host-{index}", new_controller)
            self.reload_agent(index)
        eventually(lambda: self.alive() == {"host-0", "host-1"}, 20, "both agents are at the new controller")
        eventually(self.delivered, 20, "and have delivered")
        # Its own key is another matter.
        self.give_key(0, "host-0-new")
        self.reload_agent(0)
        self.assertIn("but for what needs a restart: keys.secret", mesh.agents[0].log())
        self.assertEqual(mesh.agent_metrics(0)["pingloom_agent_controller_connected"], 1)

    def test_keys_are_replaced_without_losing_a_row(self):
        self.prepare()
        new_controller = self.generate("controller-2")
        self.mesh.start()
        self.mesh.wait_for_rows(state="ok")
        # The controller's: agents are told of both while they run, then it has the new one.
        for index in self.keys:
            self.give_key(index, f"host-{index}", f"[{self.controller_key}, {new_controller}]")
            self.reload_agent(index)
            self.assertEqual(self.mesh.agent_metrics(index)["pingloom_agent_connections_lost_total"], 0)
        self.mesh.controller.stop()
        self.mesh.controller_options["keys"] = (
            f"{{ secret: {self.key_file('controller-2')}, authorized: {self.list} }}")
        self.mesh.start_controller()
        everybody = {"host-0", "host-1", "host-2"}
        eventually(lambda: self.alive() == everybody, 20, "all agents are back")
        eventually(self.delivered, 20, "and have delivered")
        for index in self.keys:
            self.give_key(index, f"host-{index}", new_controller)
            self.reload_agent(index)
        for source in self.mesh.addresses[1:]:
            history.assert_contiguous(self, self.mesh, "udp", source, WINDOW_PINGS)
        # An agent's: both are authorised, it changes over, the old one is revoked.
        old = self.keys[0]
        self.give_key(0, "host-0-new", f"[{self.controller_key}, {new_controller}]")
        self.authorize(0)
        self.mesh.agents[0].stop()
        self.mesh.start_agent(0)
        eventually(lambda: self.mesh.hosts()["host-0"]["public_key"] == self.keys[0], 15, "the new key is in use")
        self.cli("revoke", "--file", self.list, old)
        eventually(self.delivered, 20, "nothing waits")
        self.mesh.wait_for_rows(state="ok")
        self.assertEqual(self.alive(), {"host-0", "host-1", "host-2"})
        for source in self.mesh.addresses[1:]:
            history.assert_contiguous(self, self.mesh, "udp", source, WINDOW_PINGS)

    def test_collectors_read_pages_with_a_key_only(self):
        self.prepare(hosts=1)
        mesh = self.mesh
        pages, reader, plain = (f"{mesh.subnet}.{last}" for last in (100, 200, 201))
        mesh.agent_options[0]["pages"] = (
            f"{{ address: {pages}, device: soft, socket: {mesh.directory}/pages.sock }}")
        self.cli("revoke", "--file", self.list, self.keys[0])
        self.cli("authorize", "--file", self.list, "--role", "agent", "--host", "host-0", "--addresses",
                 f"{mesh.addresses[0]},{pages}", self.keys[0])
        mesh.start()
        collector_key = self.generate("collector")
        urls = {}
        for name, address, more in (("collector", reader, f"keys: {{ secret: {self.key_file('collector')} }}\n"),
                                    ("plain", plain, "")):
            urls[name] = (address, free_port())
            path = mesh.directory / f"{name}.yaml"
            path.write_text(f"address: {address}\ndevice: soft\ncontroller: {mesh.url}\ninterval: 50ms\n"
                            f"http: {address}:{urls[name][1]}\n{more}")
            mesh.run(name, binary("pingloom-collector"), "--config", str(path))

        def states(name):
            address, port = urls[name]
            return [agent["state"] for agent in mesh.get("/api/v1/pages", port=port, address=address).json()["agents"]]

        def refused(reason):
            # The agent counts from when it offers its pages.
            return mesh.agent_metrics(0).get(f'pingloom_agent_pages_peers_refused_total{{reason="{reason}"}}', 0)

        eventually(lambda: refused("unknown_key") > 0, 20, "a key that is not authorised is counted")
        eventually(lambda: refused("no_curve") + refused("hung_up") > 0, 20, "plaintext is counted")
        self.cli("authorize", "--file", self.list, "--role", "collector", "--name", "dpu-1", collector_key)
        eventually(lambda: states("collector") == ["reading"], 20, "the collector reads")
        self.assertNotIn("reading", states("plain"))
        self.cli("revoke", "--file", self.list, "dpu-1")
        eventually(lambda: "reading" not in states("collector"), 20, "it does not any more")

    def test_pages_that_the_controller_is_not_told_of_are_read_with_a_key(self):
        self.prepare(hosts=1)
        mesh = self.mesh
        pages, reader = (f"{mesh.subnet}.{last}" for last in (100, 200))
        # An agent takes a controller with a name for one on another host, and does not tell it of pages on loopback. This is the
        # same address with its last two numbers in one, which only the resolver of names understands.
        first, second, third = mesh.subnet.split(".")
        mesh.agent_options[0]["controller"] = f"{first}.{second}.{int(third) * 256 + 254}:{mesh.control_port}"
        mesh.agent_options[0]["pages"] = (
            f"{{ address: {pages}, device: soft, socket: {mesh.directory}/pages.sock }}")
        mesh.start()
        self.cli("authorize", "--file", self.list, "--role", "collector", self.generate("collector"))
        port = free_port()
        path = mesh.directory / "collector.yaml"
        path.write_text(f"address: {reader}\ndevice: soft\nagents: [{{ agent: {pages}, key: {self.keys[0]} }}]\n"
                        f"interval: 50ms\nhttp: {reader}:{port}\nkeys: {{ secret: {self.key_file('collector')} }}\n")
        mesh.run("collector", binary("pingloom-collector"), "--config", str(path))

        def states():
            answer = mesh.get("/api/v1/pages", port=port, address=reader)
            return [agent["state"] for agent in answer.json()["agents"]]

        eventually(lambda: states() == ["reading"], 20, "the collector reads")

    def test_a_secret_that_others_may_read_is_refused(self):
        self.prepare(hosts=1)
        self.mesh.start_controller()
        for name, start in (("host-0", lambda: self.mesh.start_agent(0)),
                            ("controller", lambda: self.mesh.start_controller(wait=False))):
            if name == "controller":
                self.mesh.controller.stop()
            os.chmod(self.key_file(name), 0o644)
            process = start()
            self.assertEqual(process.process.wait(10), 2, process.log())
            self.assertIn(f"run: chmod 0640 '{self.key_file(name)}'", process.log())
            os.chmod(self.key_file(name), 0o600)
        self.assertIsNone(re.search("pingloom-secret-key", self.mesh.controller.log()))


if __name__ == "__main__":
    unittest.main()
