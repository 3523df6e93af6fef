"""Tests a service under a real systemd, from its installation through faults to its removal.

The tests of the class tell one story and run in the order of their names. A test machine may have cgroups v1, where systemd sets
no CPUQuota and MemoryMax of units in a container, so the limits are checked as systemd has read them.
"""

import shutil
import subprocess
import time
import unittest

import machine
from installation import ADDRESS, AGENT, CONTROLLER, OTHER, THIRD, Installation, packed, unpacked, wait


class Service(Installation):
    @classmethod
    def setUpClass(cls):
        tarball = max(packed("tarball", "--tarball").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
        cls.begin()
        cls.folder = unpacked(tarball, cls.host)

    def test_01_a_dry_run_changes_nothing(self):
        shown = self.install("-c", "-n", "--address", ADDRESS).stdout
        self.assertIn("would run: systemctl enable pingloom-agent.service", shown)
        self.assert_nothing_is_left()

    def test_02_wrong_use_says_so(self):
        for options, said in ((("--controler", "x"), "unknown option '--controler'"), (("--purge",), "--purge goes with -d"),
                              (("--prefix", "opt"), "--prefix takes an absolute path"),
                              (("--prefix", "/opt/../root/p"), "the services see no files below"), (("--wait", "0"), "--wait takes seconds"),
                              ((), "name the controller"), (("--controller", THIRD), "a new host needs a token: --join TOKEN"),
                              (("-c", "--join", "x"), "with -c, --join takes a folder"), (("--controller", THIRD, "--join", "x"), "--join takes a whole token"), (("--controller", "a b"), "--controller takes HOST"),
                              (("--no-agent",), "leaves nothing to install"), (("--translator", "a b"), "--translator takes the collector's HOST")):
            done = self.install(*options, check=False)
            self.assertEqual((done.returncode, said in done.stdout), (2, True), done.stdout)

    def test_03_a_taken_port_stops_it_before_anything_is_changed(self):
        self.host.run("systemd-run", "--quiet", "--unit=holder", "perl", "-MIO::Socket::INET", "-e",
                      "my $s = IO::Socket::INET->new(LocalPort => 20711, Listen => 1) or die; sleep 1000")
        wait(lambda: ":20711" in self.host.run("ss", "-Hltn").stdout, 5, "the port is taken")
        done = self.install("-c", "--address", ADDRESS, check=False)
        self.host.run("systemctl", "stop", "holder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tcp port 20711 (agents) is taken by perl", done.stdout)
        self.assertEqual(self.host.state()["files"] ^ self.before["files"], set())

    def test_04_without_its_controller_an_agent_waits_and_says_so(self):
        done = self.install("--controller", f"{THIRD}:70000", "--insecure", check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the port is not a number 1..65535", done.stdout)
        done = self.install("--controller", THIRD, "--insecure", "--wait", "3", check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("pingloom-agent was not ready: waiting for the controller", done.stdout)
        self.assertEqual(self.host.property(AGENT, "ActiveState"), "activating")
        self.install("-d", "--purge")
        self.assert_nothing_is_left()

    def test_05_one_command_makes_a_service_that_probes(self):
        shown = self.install("-c", "--address", ADDRESS, umask="077").stdout  # some hosts have this umask for root
        self.assertIn("ready", shown)
        self.assertTrue(self.active(CONTROLLER) and self.active(AGENT), shown)
        wait(self.mesh_is_fresh, 60, "a fresh result of every pair")
        self.assertIn(ADDRESS, self.host.run("pingloom", "results").stdout)
        # No service is root, and each is confined.
        for unit, user in ((CONTROLLER, "pingloom-controller"), (AGENT, "pingloom-agent")):
            status = self.host.run("cat", f"/proc/{self.pid(unit)}/status").stdout
            uid = self.host.run("id", "-u", user).stdout.strip()
            self.assertIn(f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}", status)
            self.assertIn("NoNewPrivs:\t1", status)
            self.assertIn("Seccomp:\t2", status)
            self.assertIn("CapBnd:\t0000000000000000", status)
            self.assertEqual(self.host.property(unit, "WatchdogUSec"), "20s")
        self.assertEqual(self.host.property(AGENT, "LimitMEMLOCK"), "infinity")
        self.assertEqual(self.host.property(AGENT, "CPUQuotaPerSecUSec"), "2s")
        self.assertEqual(self.host.property(AGENT, "MemoryMax"), str(512 << 20))
        self.assertEqual(self.host.run("stat", "-c", "%a %U:%G", "/etc/pingloom/keys").stdout.strip(), "750 root:pingloom")
        writable = self.host.run("find", "/usr/local", "/etc/pingloom", "/var/lib/pingloom", "-perm", "-o+w", "-not", "-type", "l").stdout
        self.assertEqual(writable, "")

    def test_06_again_is_no_change(self):
        pids = [self.pid(CONTROLLER), self.pid(AGENT)]
        for options in (("-c", "--address", ADDRESS), ()):  # without options it upgrades what is installed
            shown = self.install(*options).stdout
            self.assertEqual(shown.count("this version is installed already"), 3, shown)
        self.assertEqual(pids, [self.pid(CONTROLLER), self.pid(AGENT)])

    def write(self, name, text):
        path = self.host.root / "etc/pingloom" / name
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)

    def test_07_reload_takes_a_new_controller_address_without_a_restart(self):
        config = self.host.root / "etc/pingloom/agent.yaml"
        old, pid = config.read_text(), self.pid(AGENT)
        self.write("agent.yaml", old.replace('controller: "127.0.0.1"', f"controller: {OTHER}"))
        self.host.run("systemctl", "reload", AGENT)
        self.assertIn(f"controller {OTHER}:20711 from now on", self.log(AGENT))
        wait(lambda: f"{OTHER}:20711" in self.host.run("ss", "-Htn", "state", "established").stdout, 20, "the agent is at the new address")
        self.assertEqual(pid, self.pid(AGENT))

    def test_08_a_reload_with_a_mistake_keeps_what_is_in_force(self):
        for unit, name in ((AGENT, "agent.yaml"), (CONTROLLER, "controller.yaml")):
            config = self.host.root / "etc/pingloom" / name
            old, pid = config.read_text(), self.pid(unit)
            self.write(name, old + "\nlog_levle: info\n")
            self.host.run("systemctl", "reload", unit)
            wait(lambda unit=unit, name=name: f"/etc/pingloom/{name}:" in self.log(unit) and "log_levle" in self.log(unit), 10, "the mistake is named")
            time.sleep(1)
            self.assertTrue(self.active(unit))
            self.assertEqual(pid, self.pid(unit))
            self.write(name, old)
            self.host.run("systemctl", "reload", unit)
        wait(self.mesh_is_fresh, 40, "the mesh is as fresh as before")

    def test_09_a_start_with_a_mistake_is_one_line_and_no_second_try(self):
        config = self.host.root / "etc/pingloom/agent.yaml"
        old = config.read_text()
        self.write("agent.yaml", old + "\nlog_levle: info\n")
        self.host.run("systemctl", "restart", AGENT, check=False)
        wait(lambda: self.host.property(AGENT, "ActiveState") == "failed", 10, "the agent has failed")
        self.assertEqual(self.host.property(AGENT, "ExecMainStatus"), "2")
        self.assertIn("/etc/pingloom/agent.yaml:", self.log(AGENT))
        self.write("agent.yaml", old)
        self.host.run("systemctl", "restart", AGENT)
        self.assertTrue(self.active(AGENT))

    def test_10_killed_it_comes_back(self):
        for unit in (CONTROLLER, AGENT):
            pid = self.pid(unit)
            self.host.run("systemctl", "kill", "-s", "KILL", "--kill-whom=main", unit)
            began = time.monotonic()
            wait(lambda unit=unit, pid=pid: self.active(unit) and self.pid(unit) not in (pid, "0"), 15, f"{unit} is back")
            print(f"\n{unit}: killed, ready again after {time.monotonic() - began:.1f} s")
        wait(self.mesh_is_fresh, 40, "the mesh is fresh again")

    def test_11_stopped_the_watchdog_starts_it_anew(self):
        pids = {}
        for unit in (CONTROLLER, AGENT):
            pids[unit] = self.pid(unit)
            self.host.run("kill", "-STOP", pids[unit])
        for unit, pid in pids.items():
            wait(lambda unit=unit, pid=pid: self.active(unit) and self.pid(unit) not in (pid, "0"), 60, f"{unit} is back")
            self.assertIn("Watchdog timeout", self.log(unit))
        wait(self.mesh_is_fresh, 40, "the mesh is fresh again")

    def test_12_an_upgrade_that_does_not_become_ready_is_taken_back(self):
        program = self.folder / "tree/agent/bin/pingloom-agent"
        good = program.read_bytes()
        # This program prints its version, but never becomes ready.
        program.write_text("#!/bin/sh\n[ \"$1\" = --version ] || exec sleep 1000\necho pingloom-agent 9.9\n")
        done = self.install("-c", "--address", ADDRESS, "--wait", "8", check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the version before it is back, and ready", done.stdout)
        self.assertTrue(self.active(AGENT))
        self.assertEqual((self.host.root / "usr/local/bin/pingloom-agent").read_bytes(), good)
        # An upgrade is also rolled back if install.sh is stopped while it waits.
        self.host.run("systemd-run", "--quiet", "--unit=upgrade", "--setenv=HOME=/root", f"/{self.folder.relative_to(self.host.root)}/install.sh",
                      "-c", "--address", ADDRESS)
        installed = self.host.root / "usr/local/bin/pingloom-agent"
        wait(lambda: installed.read_bytes() != good and not self.active(AGENT), 20, "the broken one is in place")
        self.host.run("systemctl", "stop", "upgrade")
        self.host.run("systemctl", "reset-failed", "upgrade", check=False)
        self.assertEqual(installed.read_bytes(), good)
        wait(lambda: self.active(AGENT), 20, "the agent is ready again")
        # A program that does not even run is refused before anything changes.
        pid = self.pid(AGENT)
        program.write_text("#!/bin/sh\nexit 3\n")
        done = self.install("-c", "--address", ADDRESS, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pingloom-agent does not run on this host", done.stdout)
        self.assertEqual(pid, self.pid(AGENT))
        # A good one is installed: the same program with a few more bytes.
        program.write_bytes(good + b"\0" * 16)
        self.install("-c", "--address", ADDRESS)
        self.assertNotEqual(pid, self.pid(AGENT))
        program.write_bytes(good)
        wait(self.mesh_is_fresh, 40, "the mesh is fresh after the upgrade")

    def test_13_rdma_and_metric_pages_work_in_the_sandbox(self):
        """The container has no RDMA device, so soft devices are used. Each needs an address for itself, so pages get another one."""
        old = {name: (self.host.root / "etc/pingloom" / name).read_text() for name in ("agent.yaml", "pinglist.yaml")}
        served = old["agent.yaml"].replace("\npages: {}\n", f"\npages: {{ address: {OTHER} }}\n")
        self.assertNotEqual(served, old["agent.yaml"], "the installation serves pages")
        self.write("agent.yaml", served + "\nrdma: { device: soft }\n")
        self.write("pinglist.yaml", old["pinglist.yaml"] + f"  - {{ name: rdma, protocol: rdma, mesh: [{ADDRESS}], self: true }}\n")
        self.host.run("systemctl", "restart", AGENT)
        wait(lambda: "rdma" in self.host.run("pingloom", "mesh").stdout and self.mesh_is_fresh(), 60, "RDMA probes are answered")
        self.assertIn("pages.sock", self.host.run("ls", "/run/pingloom").stdout)
        folder = self.host.run("stat", "-c", "%i", "/run/pingloom").stdout
        for signal in ("TERM", "KILL"):  # a killed agent leaves its socket there
            pid = self.pid(AGENT)
            self.host.run("systemctl", "kill", "-s", signal, "--kill-whom=main", AGENT)
            wait(lambda pid=pid: self.pid(AGENT) != pid, 15, "the agent has ended")
            self.host.run("systemctl", "restart", AGENT)
            self.assertIn("pages.sock", self.host.run("ls", "/run/pingloom").stdout)
            self.assertEqual(self.host.run("stat", "-c", "%i", "/run/pingloom").stdout, folder, "a container has it mounted")
        self.install("--no-agent", "-k", "--address", THIRD, "--device", "soft", "--controller", "127.0.0.1")
        program = machine.BUILD / "bin/pages_orders"  # an application; `cmake --build ... --target pages_orders` builds it
        if program.exists():
            shutil.copy(program, self.host.root / "root")
            shutil.copy(machine.BUILD / "lib/libpingloom-pages.so.0", self.host.root / "usr/lib/libpingloom-pages.so.0")
            self.write("agent.yaml", (self.host.root / "etc/pingloom/agent.yaml").read_text().replace(
                f"address: {OTHER} ", f"address: {OTHER}, users: [root] "))
            self.host.run("systemctl", "restart", AGENT)
            self.host.run("systemd-run", "--quiet", "--unit=orders", "/root/pages_orders")
            wait(lambda: self.host.run("pingloom", "pages", "--check", "--url", "http://127.0.0.1:20715", check=False).returncode == 0,
                 30, "the application's metrics are at the collector")
            self.host.run("systemctl", "stop", "orders")
            (self.host.root / "usr/lib/libpingloom-pages.so.0").unlink()
        for name, text in old.items():
            self.write(name, text)
        self.host.run("systemctl", "restart", AGENT)

    def test_14_it_stops_within_five_seconds(self):
        for unit in (AGENT, CONTROLLER):
            began = time.monotonic()
            self.host.run("systemctl", "stop", unit)
            took = time.monotonic() - began
            print(f"\n{unit}: stopped in {took:.2f} s")
            self.assertLess(took, 5)
            self.assertEqual(self.host.property(unit, "Result"), "success")

    def test_15_uninstalled_it_keeps_configuration_and_data(self):
        config = (self.host.root / "etc/pingloom/agent.yaml").read_text()
        self.install("-d")
        left = self.host.state()
        self.assertEqual({path for path in left["files"] if "pingloom" in path and path.startswith("usr")}, set())
        self.assertNotIn("pingloom\n", self.host.run("ls", "/run").stdout)
        self.assertEqual(left["units"] - self.before["units"] - {"redis-server.service", "redis-server@.service"}, set())
        self.assertTrue((self.host.root / "var/lib/pingloom/controller/history.sqlite").exists())
        self.assertEqual((self.host.root / "etc/pingloom/agent.yaml").read_text(), config)
        # A new installation uses them again.
        self.install("-c", "--address", ADDRESS)
        self.assertEqual((self.host.root / "etc/pingloom/agent.yaml").read_text(), config)
        wait(self.mesh_is_fresh, 60, "the mesh is fresh once more")

    def test_16_purged_nothing_is_left(self):
        self.install("-d", "--purge")
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main()
