"""Tests of an installation share this: install.sh on a machine, and questions about the services."""

import subprocess
import time
import unittest
import pathlib

import machine

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
CONTROLLER, AGENT = "pingloom-controller.service", "pingloom-agent.service"
ADDRESS, OTHER, THIRD = "10.99.0.1", "10.99.0.2", "10.99.0.3"


def wait(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}")


def unpacked(tarball, host):
    """Unpacks the tarball in a machine, and returns the folder with install.sh."""
    home = host.root / "root"
    subprocess.run(["tar", "-xzf", tarball, "-C", home], check=True)
    return next(home.glob("pingloom-*"))


def packed(name, *options):
    """Runs scripts/package.sh on the tested build, with the dependencies, because machines have no network."""
    out = machine.BUILD / "systemd" / name
    subprocess.run([SCRIPTS / "package.sh", "--build", machine.BUILD, "--out", out, "--with-dependencies", *options], check=True,
                   stdout=subprocess.DEVNULL)
    return out


@unittest.skipIf(machine.missing(), machine.missing())
class Installation(unittest.TestCase):
    """The tests of a class tell one story on one machine and run in the order of their names. setUpClass calls begin() and puts
    install.sh's folder into `folder`."""

    @classmethod
    def begin(cls):
        cls.host = machine.Machine(cls, [f"{address}/24" for address in (ADDRESS, OTHER, THIRD)])
        cls.before = cls.host.state()

    def install(self, *options, check=True, umask="022"):
        installer = "/" + str(self.folder.relative_to(self.host.root)) + "/install.sh"
        return self.host.run("sh", "-c", f'umask {umask} && exec "$@"', "sh", installer, *options, check=check, timeout=200)

    def active(self, unit):
        return self.host.property(unit, "ActiveState") == "active"

    def pid(self, unit):
        return self.host.property(unit, "MainPID")

    def mesh_is_fresh(self):
        return self.host.run("pingloom", "mesh", "--check", check=False).returncode == 0

    def log(self, unit):
        return self.host.journal(unit)

    def assert_nothing_is_left(self):
        left = self.host.state()
        for what, was in self.before.items():
            self.assertEqual(left[what] ^ was, set(), what)
        self.assertNotIn("pingloom", self.host.run("ls", "/run").stdout)
