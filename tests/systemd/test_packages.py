"""Tests the Debian packages under a real systemd, installed by apt and by install.sh."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from installation import ADDRESS, AGENT, CONTROLLER, OTHER, Installation, packed, wait


def later(package, broken):
    """Makes a later version of the package. A `broken` one has a program that prints its version but never becomes ready."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-R", package, folder], check=True)
        control = pathlib.Path(folder, "DEBIAN/control")
        control.write_text(re.sub(r"(?m)^Version: .*", "Version: 0.1.0-2", control.read_text()))
        if broken:
            program = pathlib.Path(folder, "usr/bin/pingloom-agent")
            program.write_text("#!/bin/sh\n[ \"$1\" = --version ] || exec sleep 1000\necho pingloom-agent 9.9\n")
        made = package.with_name(package.name.replace("0.1.0-1", "0.1.0-2"))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", folder, made], check=True, stdout=subprocess.DEVNULL)


class Packages(Installation):
    @classmethod
    def setUpClass(cls):
        made = packed("packages")  # fails if lintian finds an error
        cls.begin()
        cls.folder = cls.host.root / "root/pingloom"
        shutil.copytree(made, cls.folder, ignore=shutil.ignore_patterns("*.tar.gz"))

    def version(self, name="agent"):
        return self.host.run("dpkg-query", "-W", "-f", "${Version}", f"pingloom-{name}").stdout

    def package(self, name, version="0.1.0-1"):
        return next(self.folder.glob(f"pingloom-{name}_{version}_*.deb"))

    def test_1_one_command(self):
        shown = self.install("-c", "--address", ADDRESS).stdout
        self.assertTrue(self.active(CONTROLLER) and self.active(AGENT), shown)
        wait(self.mesh_is_fresh, 60, "a fresh result of every pair")
        conffiles = self.host.run("dpkg-query", "-W", "-f", "${Conffiles}", "pingloom-controller", "pingloom-agent").stdout
        for name in ("controller", "pinglist", "agent"):
            self.assertIn(f"/etc/pingloom/{name}.yaml", conffiles)
        self.assertEqual(self.host.run("dpkg", "--verify", "pingloom-cli").stdout, "")

    def test_2_again_is_no_change(self):
        pids = [self.pid(CONTROLLER), self.pid(AGENT)]
        shown = self.install("-c", "--address", ADDRESS).stdout
        self.assertEqual(shown.count("this version is installed already"), 3, shown)
        self.assertEqual(pids, [self.pid(CONTROLLER), self.pid(AGENT)])

    def test_2b_a_translator(self):
        shown = self.install("--no-agent", "--translator", ADDRESS, "--address", OTHER, "--device", "soft").stdout
        self.assertTrue(self.active("pingloom-translator.service"), shown)
        config = (self.host.root / "etc/pingloom/translator.yaml").read_text()
        for line in (f'address: "{OTHER}"', f'collector: "{ADDRESS}"', "device: soft"):
            self.assertIn(f"\n{line}\n", config)
        self.assertIn("/etc/pingloom/translator.yaml", self.host.run("dpkg-query", "-W", "-f", "${Conffiles}", "pingloom-translator").stdout)
        # The library for applications needs nothing that a small server lacks.
        library = next(self.folder.glob("libpingloom-report0_*.deb"))
        self.host.run("dpkg", "-i", f"/{library.relative_to(self.host.root)}")
        self.assertIn("libpingloom-report.so.0", self.host.run("ldconfig", "-p").stdout)
        self.host.run("dpkg", "--purge", "libpingloom-report0")

    def test_3_an_upgrade_that_does_not_become_ready_is_taken_back(self):
        config = (self.host.root / "etc/pingloom/agent.yaml").read_text()
        for name in ("cli", "controller", "agent"):
            later(self.package(name), broken=name == "agent")
        done = self.install("-c", "--address", ADDRESS, "--wait", "8", check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the version before it is back, and ready", done.stdout)
        self.assertEqual([self.version(name) for name in ("cli", "controller", "agent")], ["0.1.0-2", "0.1.0-2", "0.1.0-1"])
        self.assertTrue(self.active(CONTROLLER) and self.active(AGENT))
        self.assertEqual((self.host.root / "etc/pingloom/agent.yaml").read_text(), config)
        later(self.package("agent"), broken=False)
        self.install("-c", "--address", ADDRESS)
        self.assertEqual(self.version(), "0.1.0-2")
        wait(self.mesh_is_fresh, 40, "the mesh is fresh after the upgrade")

    def test_4_uninstalled_it_keeps_its_configuration(self):
        self.install("-d")
        self.assertTrue((self.host.root / "etc/pingloom/agent.yaml").exists())
        self.assertFalse((self.host.root / "usr/bin/pingloom-agent").exists())
        self.assertNotIn("pingloom\n", self.host.run("ls", "/run").stdout)

    def test_5_purged_nothing_is_left(self):
        self.install("-d", "--purge")
        self.assert_nothing_is_left()

    def test_6_by_apt_it_waits_for_its_configuration(self):
        self.host.run("sh", "-c", f"cd /{self.folder.relative_to(self.host.root)} && "
                      "dpkg -i deps/libzmq5_* deps/libprotobuf32_* deps/libyaml-cpp* deps/libspdlog* deps/libfmt9* deps/libboost-program* "
                      "deps/libisal2* deps/libsnappy1v5* deps/libibverbs1* deps/libnl-* deps/libsodium* deps/libpgm* deps/libnorm* deps/libhiredis* "
                      "deps/libsqlite3* deps/libncurses6* deps/libncurses* deps/libtinfo* 2>&1; dpkg -i pingloom-cli_*-2_* pingloom-agent_*-2_* 2>&1", check=False)
        self.assertEqual(self.version(), "0.1.0-2")
        self.assertFalse(self.active(AGENT))
        self.assertEqual(self.host.run("systemctl", "is-enabled", AGENT, check=False).stdout.strip(), "disabled")
        self.host.run("systemctl", "enable", "--now", "--no-block", AGENT)
        self.host.run("dpkg", "--purge", "pingloom-agent", "pingloom-cli")
        self.assertEqual({path for path in self.host.files() if "pingloom" in path}, set())
        self.assertNotIn("pingloom\n", self.host.run("ls", "/run").stdout)


if __name__ == "__main__":
    unittest.main()
