"""Tests that one command on each host makes an RDMA mesh with keys: three hosts with a real systemd and a switch between them.

The hosts have no RDMA device, so they use soft ones.

The tests of the class tell one story and run in the order of their names.
"""

import re
import unittest

import machine
from installation import AGENT, CONTROLLER, Installation, packed, unpacked, wait

FIRST, SECOND, THIRD = "10.98.0.1", "10.98.0.2", "10.98.0.3"
CONFIG = "/etc/pingloom/controller.yaml"


class Join(Installation):
    @classmethod
    def setUpClass(cls):
        tarball = max(packed("tarball", "--tarball").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
        cls.controller, cls.other, cls.third = (machine.Machine(cls, []) for _ in range(3))
        hosts = {cls.controller: "controller", cls.other: "other", cls.third: "third"}
        for host, name in hosts.items():
            host.run("hostname", name)  # all have the build host's name from debootstrap
        machine.connect(*((host, f"{address}/24") for host, address in zip(hosts, (FIRST, SECOND, THIRD))))
        cls.folders = {host: unpacked(tarball, host) for host in hosts}
        cls.at(cls.controller)

    @classmethod
    def at(cls, host):
        """What follows happens on this host."""
        cls.host, cls.folder = host, cls.folders[host]

    def run_line(self, line, check=True):
        self.assertTrue(line.startswith("./install.sh "))
        return self.install(*line.split()[1:], check=check)

    def hosts_with_keys(self):
        listed = self.controller.run("pingloom", "keys", "list").stdout
        return re.findall(r"^\S+ +agent +.*$", listed, re.MULTILINE)

    def token_line(self):
        token = self.controller.run("sh", "-c", "pingloom keys token create 2>/dev/null").stdout.strip()
        return f"./install.sh --controller {FIRST} --join {token}"

    def mesh_is_whole(self):
        """Tells whether every host has fresh results of every host by RDMA, itself included."""
        shown = self.controller.run("pingloom", "mesh", "--check", check=False)
        return shown.returncode == 0 and all(address in shown.stdout for address in (FIRST, SECOND, THIRD))

    def test_01_a_command_on_each_host_makes_a_mesh(self):
        shown = self.install("-c", "--device", "soft").stdout
        lines = re.findall(r"^\./install\.sh --controller \S+ --join pingloom-join-[0-9a-f]+ --device soft$", shown, re.MULTILINE)
        self.assertEqual(len(lines), 1, shown)
        type(self).line = lines[0]
        self.assertTrue(self.active(CONTROLLER) and self.active(AGENT), shown)
        for host in (self.other, self.third):
            self.at(host)
            shown = self.run_line(self.line).stdout
            self.assertIn("is authorised", shown)
            self.assertTrue(self.active(AGENT), shown)
        self.at(self.controller)
        wait(self.mesh_is_whole, 60, "a fresh result of every pair")
        rows = self.host.run("pingloom", "results", "--json").stdout
        self.assertIn('"protocol":"rdma"', rows)
        self.assertIn('"device":"soft"', rows)

    def test_02_status_is_well_and_warns_of_nothing(self):
        shown = self.host.run("pingloom", "status").stdout
        self.assertIn("keys        3 authorised", shown)
        self.assertIn("agents      3 alive of 3 known, 3 with the plan in force", shown)
        self.assertNotIn("warning", shown)
        self.assertNotIn("WITHOUT KEYS", shown + self.log(CONTROLLER))

    def test_03_secrets_belong_to_their_services(self):
        for host, name in ((self.controller, "controller"), (self.controller, "agent"), (self.other, "agent")):
            self.assertEqual(host.run("stat", "-c", "%a %U", f"/etc/pingloom/keys/{name}.key").stdout.strip(), f"600 pingloom-{name}")
        listed = self.controller.run("stat", "-c", "%U", "/var/lib/pingloom/controller/authorized_keys.yaml").stdout.strip()
        self.assertEqual(listed, "pingloom-controller")

    def test_04_again_is_no_change(self):
        self.at(self.other)
        pid, before = self.pid(AGENT), self.hosts_with_keys()
        self.run_line(self.line)
        self.assertEqual((self.pid(AGENT), self.hosts_with_keys()), (pid, before))
        self.at(self.controller)
        pids = [self.pid(CONTROLLER), self.pid(AGENT)]
        shown = self.install("-c").stdout
        self.assertNotIn("--join", shown)
        self.assertIn("pingloom keys token create", shown)
        self.assertEqual([self.pid(CONTROLLER), self.pid(AGENT)], pids)

    def test_05_a_host_that_was_installed_anew_needs_a_word_at_the_controller(self):
        self.at(self.other)
        self.install("-d", "--purge")
        done = self.run_line(self.line, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        told = re.search(r"run `pingloom keys revoke (\S+)` at the controller", done.stdout)
        self.assertTrue(told, done.stdout)
        self.controller.run("pingloom", "keys", "revoke", told.group(1))
        self.run_line(self.line)
        self.at(self.controller)
        wait(self.mesh_is_fresh, 60, "the mesh is fresh again")

    def test_06_a_person_in_between(self):
        self.at(self.other)
        self.install("-d", "--purge")
        name = self.host.run("hostname").stdout.strip()
        self.controller.run("pingloom", "keys", "revoke", name)
        token = self.controller.run("sh", "-c", "pingloom keys token create --manual 2>/dev/null").stdout.strip()
        shown = self.install("--controller", FIRST, "--join", token).stdout
        self.assertIn(f"pingloom keys approve {name}", shown)
        self.assertFalse(self.active(AGENT))
        self.controller.run("pingloom", "keys", "approve", name)
        wait(lambda: self.active(AGENT), 30, "the agent is ready")

    def test_07_a_token_that_was_revoked_is_no_use(self):
        line = self.token_line()
        self.controller.run("pingloom", "keys", "token", "revoke", line.split()[-1])
        self.at(self.other)
        self.install("-d", "--purge")
        done = self.run_line(line, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("does not accept the token", done.stdout)
        self.assertEqual(self.host.run("ls", "/etc/pingloom/keys").stdout, "")

    def test_08_an_installation_without_keys_goes_on_after_an_upgrade(self):
        self.at(self.controller)
        config = self.host.root / "etc/pingloom"
        for name in ("controller.yaml", "agent.yaml"):
            text = re.sub(r"^keys:.*\n", "", (config / name).read_text(), flags=re.MULTILINE)
            (config / name).write_text(text)
        shown = self.install("-c").stdout
        self.assertIn("this controller has no keys", shown)
        self.assertIn("\ninsecure: true\n", (config / "controller.yaml").read_text())
        self.host.run("systemctl", "restart", CONTROLLER, AGENT)
        self.assertIn("WITHOUT KEYS", self.log(CONTROLLER))
        self.assertIn("warning     WITHOUT KEYS", self.host.run("pingloom", "status", check=False).stdout)


if __name__ == "__main__":
    unittest.main()
