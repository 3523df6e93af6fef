"""The host's own metrics on pages: what a collector shows of them is what this test reads from /proc itself."""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

import private_network
from pages_case import PagesCase
from processes import eventually


LOCAL_TYPES = ("bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "reiserfs", "vfat", "xfs", "zfs")
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def proc(name):
    return pathlib.Path("/proc", name).read_text()


class SystemMetrics(PagesCase):
    def shown(self, collector="collector"):
        """The values by name and by the labels that are the metric's own."""
        values = {}
        for family in parse_text(self.get("/metrics", collector)):
            for sample in family.samples:
                if not sample.name.startswith(("node_", "pingloom_system_", "pingloom_cgroup_")):
                    continue
                labels = dict(sample.labels)
                self.assertEqual(labels.pop("host"), "host-1")
                self.assertRegex(labels.pop("application"), "^pingloom-(system|devices|cgroups)$")
                self.assertGreater(int(labels.pop("pid")), 0)
                values[sample.name, frozenset(labels.items())] = sample.value
        return values

    def value(self, name, **labels):
        return self.shown().get((name, frozenset(labels.items())))

    def start(self, system):
        self.start_agent(1, system=system)
        self.start_collector(agents=[1])
        eventually(lambda: "pingloom_agent_pings_sent_total" in self.get("/metrics"), 60, "the agent's pages are read", 0.2)

    def between(self, name, read, **labels):
        """What is shown lies between what /proc says before and after, once a round has followed the former."""
        before = read()
        now = eventually(lambda: (value := self.value(name, **labels)) is not None and value >= before and [value], 60,
                         f"{name} is at least {before}", 0.2)[0]
        self.assertLessEqual(now, read(), name)

    def test_the_host_is_shown_as_proc_shows_it(self):
        self.start(system=True)
        stat = {"node_context_switches_total": "ctxt", "node_forks_total": "processes", "node_intr_total": "intr"}
        for name, key in stat.items():
            self.between(name, lambda key=key: float(re.search(rf"^{key} (\d+)", proc("stat"), re.M)[1]))
        self.assertEqual(self.value("node_boot_time_seconds"), float(re.search(r"^btime (\d+)", proc("stat"), re.M)[1]))
        self.between("node_time_seconds", time.time)
        name = next(dict(labels) for name, labels in self.shown() if name == "node_uname_info")
        self.assertEqual((name["nodename"], name["release"]), (os.uname().nodename, os.uname().release))
        processors = re.findall(r"^cpu(\d+) (.*)", proc("stat"), re.M)
        self.assertEqual(self.value("pingloom_system_cpus"), len(processors))
        for number, _ in processors[:2] if len(processors) <= 128 else [("all", None)]:
            def user(number=number):
                return int(re.search(rf"^cpu{'' if number == 'all' else number} +(\d+)", proc("stat"), re.M)[1]) / 100
            self.between("node_cpu_seconds_total", user, cpu=number, mode="user")
        total = int(re.search(r"^MemTotal: +(\d+) kB", proc("meminfo"), re.M)[1])
        self.assertEqual(self.value("node_memory_MemTotal_bytes"), total * 1024)
        self.between("node_vmstat_pgfault", lambda: float(re.search(r"^pgfault (\d+)", proc("vmstat"), re.M)[1]))
        self.assertGreaterEqual(self.value("node_load1"), 0)
        if pathlib.Path("/proc/pressure/cpu").exists():
            self.between("node_pressure_cpu_waiting_seconds_total",
                         lambda: int(re.search(r"^some .*total=(\d+)", proc("pressure/cpu"), re.M)[1]) / 1e6)
        self.assertEqual(self.value("pingloom_system_malformed_total"), 0)
        self.assertEqual(self.value("pingloom_system_refused"), 0)

    def test_devices_are_shown_as_proc_shows_them(self):
        self.start(system=True)

        def received():
            return int(re.search(r"^ *lo: *(\d+)", proc("net/dev"), re.M)[1])

        self.between("node_network_receive_bytes_total", received, device="lo")

        def datagrams():
            names, values = re.findall(r"^Udp: (.*)", proc("net/snmp"), re.M)
            return int(dict(zip(names.split(), values.split()))["InDatagrams"])

        self.between("node_netstat_Udp_InDatagrams", datagrams)
        self.between("node_netstat_Ip6_InOctets", lambda: int(re.search(r"^Ip6InOctets\s+(\d+)", proc("net/snmp6"), re.M)[1]))
        disks = [line.split() for line in proc("diskstats").splitlines()]
        for name in {fields[2] for fields in disks if re.fullmatch("[sv]d[a-z]|nvme[0-9]+n1", fields[2])}:
            def written(name=name):
                return int(re.search(rf" {name} (?:\d+ ){{6}}(\d+)", proc("diskstats"))[1]) * 512
            self.between("node_disk_written_bytes_total", written, device=name)
        mounts = [line.split() for line in proc("self/mounts").splitlines()]
        roots = [fields for fields in mounts if fields[1] == "/"]
        shown = {dict(labels)["mountpoint"]: value for (name, labels), value in self.shown().items()
                 if name == "node_filesystem_size_bytes"}
        self.assertEqual("/" in shown, roots[-1][2] in LOCAL_TYPES)
        for point, size in shown.items():
            self.assertEqual(size, os.statvfs(point).f_blocks * os.statvfs(point).f_frsize, point)
        self.assertEqual(self.value("pingloom_system_malformed_total"), 0)
        self.assertEqual(self.value("pingloom_system_refused"), 0)

    def busy_cgroup(self):
        """A cgroup of version 2 in which a process has run: a new one if that may be made, or any, or None."""
        root = next((root for root in (CGROUPS, CGROUPS / "unified") if (root / "cgroup.controllers").exists()), None)
        if root is None:
            return None
        made = root / f"pingloom-test-{os.getpid()}"
        try:
            made.mkdir()
        except OSError:
            return next((path.parent for path in sorted(root.glob("*/cpu.stat"))), None)
        self.addCleanup(made.rmdir)
        busy = self.run_one("busy", sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass\ntime.sleep(600)")
        self.addCleanup(busy.kill)  # first, because a cgroup with processes cannot be removed
        (made / "cgroup.procs").write_text(str(busy.pid))
        eventually(lambda: self.used(made) > 0.5, 60, "the process has run")
        return made

    def used(self, cgroup):
        return int(re.search(r"^usage_usec (\d+)", (cgroup / "cpu.stat").read_text(), re.M)[1]) / 1e6

    def test_a_cgroup_is_shown_as_its_files_show_it(self):
        cgroup = self.busy_cgroup()
        self.start(system=True)
        if cgroup is None:
            eventually(lambda: self.value("pingloom_system_rounds_total"), 60, "the host is shown", 0.2)
            self.assertEqual([name for name, _ in self.shown() if name.startswith("pingloom_cgroup_")], [])
        else:
            self.between("pingloom_cgroup_cpu_seconds_total", lambda: self.used(cgroup), cgroup=f"/{cgroup.name}")

    def test_an_interface_that_is_gone_is_shown_no_more(self):
        private_network.enter()
        name = f"gone{os.getpid() % 100_000}"

        def ip(*arguments):
            subprocess.run(["ip", "link", *arguments], check=True, capture_output=True)

        def metrics():
            return {metric for metric, labels in self.shown() if ("device", name) in labels}

        ip("add", name, "type", "bridge")
        self.start(system=True)
        eventually(lambda: "node_network_receive_bytes_total" in metrics(), 60, "the interface is shown", 0.2)
        began = self.value("pingloom_system_rounds_total")
        ip("delete", name)
        eventually(lambda: not metrics(), 60, lambda: f"it is shown no more: {metrics()}", 0.2)
        eventually(lambda: self.value("pingloom_system_rounds_total") > began, 60, "all else goes on", 0.2)
        ip("add", name, "type", "bridge")
        eventually(metrics, 60, "it is back", 0.2)
        self.assertEqual(self.value("pingloom_system_refused"), 0)

    def test_they_are_off_by_default(self):
        self.start(system=False)
        rounds = self.own("pingloom_collector_rounds_total")
        eventually(lambda: all(self.own("pingloom_collector_rounds_total")[agent] > count + 100
                               for agent, count in rounds.items()), 60, "the pages are read for two seconds", 0.2)
        self.assertEqual(self.shown(), {})


if __name__ == "__main__":
    unittest.main()
