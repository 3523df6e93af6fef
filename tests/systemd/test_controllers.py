"""Tests that two hosts with a real systemd become controllers that share a history, by what docs/operations.md and docs/scale.md say:
PostgreSQL and a controller on the first, `install.sh -c --join` on the second.

The tests of the class tell one story and run in the order of their names.
"""

import ipaddress
import re
import shutil
import subprocess
import unittest

import machine
from installation import AGENT, CONTROLLER, Installation, packed, unpacked, wait

FIRST, SECOND = "10.97.0.1", "10.97.0.2"
CONFIG = "/etc/pingloom/controller.yaml"
# Machines have no network, so a folder is apt's only source.
INSTALL_POSTGRES = """
mkdir -p /tmp/apt/lists/partial /tmp/apt/cache/archives/partial
echo 'deb [trusted=yes] file:/root/postgres ./' >/tmp/apt/sources.list
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
set -- -qq -o Dir::Etc::sourcelist=/tmp/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=/tmp/apt/lists \\
  -o Dir::Cache=/tmp/apt/cache -o APT::Sandbox::User=root
apt-get "$@" update
apt-get "$@" -y --no-install-recommends install postgresql-15
"""
ROLES = """
CREATE ROLE pingloom_owner LOGIN PASSWORD 'of the owner';
CREATE ROLE pingloom LOGIN PASSWORD 'of the controllers';
CREATE DATABASE pingloom OWNER pingloom_owner ENCODING 'UTF8' TEMPLATE template0;
"""


def postgres_packages():
    """A folder with PostgreSQL and all that it depends on, as an archive for apt."""
    made = machine.BUILD / "systemd" / "postgres"
    listed = made / "Packages"
    # They have to be of the point release that the machines' base is of.
    if listed.exists() and listed.stat().st_mtime > machine.base().stat().st_mtime:
        return made
    shutil.rmtree(made, ignore_errors=True)
    (made / "partial").mkdir(parents=True, exist_ok=True)
    (made / "status").touch()
    subprocess.run(["apt-get", "-y", "-qq", "-o", f"Dir::State::status={made.resolve()}/status", "-o", "Debug::NoLocking=1",
                    "-o", f"Dir::Cache::archives={made.resolve()}", "-o", "APT::Sandbox::User=root", "--no-install-recommends",
                    "--download-only", "install", "postgresql-15"], check=True, stdout=subprocess.DEVNULL)
    packages = subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=made, check=True, capture_output=True)
    partial = made / "Packages.part"
    partial.write_bytes(packages.stdout)
    partial.rename(listed)
    return made


class Controllers(Installation):
    @classmethod
    def setUpClass(cls):
        tarball = max(packed("tarball", "--tarball").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
        cls.first, cls.second = (machine.Machine(cls, []) for _ in range(2))
        hosts = {cls.first: "one", cls.second: "two"}
        for host, name in hosts.items():
            host.run("hostname", name)
        machine.connect(*((host, f"{address}/24") for host, address in zip(hosts, (FIRST, SECOND))))
        cls.folders = {host: unpacked(tarball, host) for host in hosts}
        shutil.copytree(postgres_packages(), cls.first.root / "root/postgres")
        cls.first.run("sh", "-euc", INSTALL_POSTGRES, timeout=300)
        cls.at(cls.first)

    @classmethod
    def at(cls, host):
        """What follows happens on this host."""
        cls.host, cls.folder = host, cls.folders[host]

    def sql(self, statements, database="postgres"):
        return self.first.run("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "env", "--chdir=/", "psql", "-X", "-A", "-t", "-q",
                              "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statements).stdout

    def controllers(self, host):
        """What `pingloom controllers` says there: the role and the agents of each."""
        shown = host.run("pingloom", "controllers", check=False).stdout
        return {name: (role, int(agents)) for name, role, agents in re.findall(r"^(one|two) +(leader|follower) +(\d+) ", shown, re.MULTILINE)}

    def agent_count(self, host, name):
        """A number of the agent's metrics, in all series together."""
        text = host.run("bash", "-c", r'exec 3<>/dev/tcp/127.0.0.1/20712; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3').stdout
        found = re.findall(rf"^pingloom_agent_{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE)
        self.assertTrue(found, text)
        return sum(int(float(number)) for number in found)

    def is_alone(self, host, name):
        """Tells whether this one leads, and has both agents."""
        return self.controllers(host) == {name: ("leader", 2)}

    def both_are_there(self, host):
        shown = self.controllers(host)
        return (sorted(role for role, _ in shown.values()) == ["follower", "leader"] and sum(agents for _, agents in shown.values()) == 2
                and host.run("pingloom", "mesh", "--check", check=False).returncode == 0)

    def test_01_a_controller_with_a_history_in_postgresql(self):
        self.install("-c", "--address", FIRST)
        self.host.run("sh", "-euc", f"""
            echo "listen_addresses = '{FIRST}'" >>/etc/postgresql/15/main/postgresql.conf
            echo 'host pingloom pingloom,pingloom_owner 10.97.0.0/24 scram-sha-256' >>/etc/postgresql/15/main/pg_hba.conf
            systemctl restart postgresql""")
        for statement in ROLES.strip().splitlines():  # a database is not made within a transaction
            self.sql(statement)
        place = f"hosts: [{FIRST}], database: pingloom"
        self.host.run("sh", "-euc", f"""
            cd /root
            umask 077
            echo 'of the owner' >owner.password
            cp {CONFIG} owner.yaml
            echo 'history: {{ postgres: {{ {place}, user: pingloom_owner, password_file: owner.password }} }}' >>owner.yaml
            pingloom-controller --config owner.yaml --init-history
            echo 'of the controllers' >/etc/pingloom/postgres.password
            chown pingloom-controller: /etc/pingloom/postgres.password
            echo 'history: {{ postgres: {{ {place}, password_file: postgres.password }} }}' >>{CONFIG}
            echo 'cluster: {{ address: "{FIRST}:20711" }}' >>{CONFIG}""")
        self.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO pingloom", "pingloom")
        self.host.run("systemctl", "restart", CONTROLLER)
        self.assertEqual(self.controllers(self.host)["one"][0], "leader", self.log(CONTROLLER))

    def test_02_one_more_joins_with_one_command(self):
        self.at(self.second)
        copy = self.folder / "from-controller-1"
        shutil.copytree(self.first.root / "etc/pingloom", copy)  # like `scp -rp`, it keeps the modes
        self.addCleanup(shutil.rmtree, copy)
        shown = self.install("-c", "--join", f"/{copy.relative_to(self.host.root)}").stdout
        self.assertIn(f"the controller {FIRST}:20711, with which this one shares history and keys", shown)
        self.assertIn(f"add {SECOND}:20711 to 'controller'", shown)
        self.assertTrue(self.active(CONTROLLER) and self.active(AGENT), shown)
        for name, owner in (("keys/controller.key", "pingloom-controller"), ("postgres.password", "pingloom-controller"), ("keys/agent.key", "pingloom-agent")):
            self.assertEqual(self.host.run("stat", "-c", "%a %U", f"/etc/pingloom/{name}").stdout.strip(), f"600 {owner}", name)
        self.first.run("sed", "-i", f's|^controller:.*|controller: ["{FIRST}", "{SECOND}"]|', "/etc/pingloom/agent.yaml")
        self.first.run("systemctl", "reload", AGENT)
        for host in (self.first, self.second):
            wait(lambda host=host: self.both_are_there(host), 60, "both controllers, both agents and the whole mesh")

    def test_03_one_that_is_stopped_leaves_its_agents_to_the_other(self):
        for host, other, name in ((self.second, self.first, "one"), (self.first, self.second, "two")):
            host.run("systemctl", "stop", CONTROLLER)
            wait(lambda other=other, name=name: self.is_alone(other, name), 20, f"{name} leads and has both agents")
            wait(lambda other=other: other.run("pingloom", "mesh", "--check", check=False).returncode == 0, 30, "the mesh is whole")
            host.run("systemctl", "start", CONTROLLER)
            wait(lambda other=other: self.both_are_there(other), 60, "both are back")

    def test_04_one_that_is_killed_does_so_when_its_lease_has_ended(self):
        for host, other, name in ((self.second, self.first, "one"), (self.first, self.second, "two")):
            # A stop right behind keeps systemd from starting it again.
            host.run("sh", "-c", f"kill -9 {host.property(CONTROLLER, 'MainPID')}; systemctl stop {CONTROLLER}")
            wait(lambda other=other, name=name: self.is_alone(other, name), 20, f"{name} leads and has both agents")
            wait(lambda other=other: other.run("pingloom", "mesh", "--check", check=False).returncode == 0, 30, "the mesh is whole")
            host.run("systemctl", "reset-failed", CONTROLLER, check=False)
            host.run("systemctl", "start", CONTROLLER)
            wait(lambda other=other: self.both_are_there(other), 60, "both are back")

    def test_05_systemd_starts_a_killed_one_again(self):
        pid = self.first.property(CONTROLLER, "MainPID")
        self.first.run("systemctl", "kill", "-s", "KILL", "--kill-whom=main", CONTROLLER)
        wait(lambda: self.first.property(CONTROLLER, "MainPID") not in (pid, "0"), 15, "it has been started again")
        wait(lambda: self.both_are_there(self.second), 60, "both are there")

    def test_06_each_batch_is_in_the_history_once(self):
        # The agent of the second host has never reported to anything else, and its few pairs make one window a batch.
        def counted_once():
            acknowledged = self.agent_count(self.second, "batches_acknowledged_total")
            windows, distinct = self.sql("SELECT count(*), count(DISTINCT (probe, path, incarnation, sequence)) FROM blocks WHERE "
                                         f"source = '\\x{ipaddress.ip_address(SECOND).packed.hex()}'", "pingloom").strip().split("|")
            waiting = self.agent_count(self.second, "spool_batches")
            return acknowledged >= 4 and waiting == 0 and acknowledged == int(windows) == int(distinct)
        wait(counted_once, 60, "some windows, each of them once")

    def test_07_an_uninstalled_one_is_no_member_any_more(self):
        self.at(self.second)
        self.install("-d")
        wait(lambda: set(self.controllers(self.first)) == {"one"}, 10, "it has left")


if __name__ == "__main__":
    unittest.main()
