"""The host's own metrics on pages: what a collector shows of them is what this test reads from /proc itself."""

import pathlib
import re
import unittest

from prometheus_client.parser import text_string_to_metric_families as parse_text

from pages_case import PagesCase
from processes import eventually


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
        processors = re.findall(r"^cpu(\d+) (.*)", proc("stat"), re.M)
        self.assertEqual(self.value("pingloom_system_cpus"), len(processors))
        for number, _ in processors:
            def user(number=number):
                return int(re.search(rf"^cpu{number} (\d+)", proc("stat"), re.M)[1]) / 100
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

    def test_they_are_off_by_default(self):
        self.start(system=False)
        rounds = self.own("pingloom_collector_rounds_total")
        eventually(lambda: all(self.own("pingloom_collector_rounds_total")[agent] > count + 100
                               for agent, count in rounds.items()), 60, "the pages are read for two seconds", 0.2)
        self.assertEqual(self.shown(), {})


if __name__ == "__main__":
    unittest.main()
