"""The meshes that faults are inflicted on: hosts with names, in racks, some with several rails, on a network that can be spoiled."""

import os
import pathlib
import random
import struct
import sys

from faulty_fabric import PROTOCOLS, FaultyFabric
from mesh import Mesh
from processes import binary, eventually

RACK = 3  # hosts in a rack
BUSY = "import time\nwhile True:\n    pass\n"


def share_priority(pid):
    """Where the kernel shares the CPU among sessions (autogroups), a process of another session has to be told our priority."""
    try:
        pathlib.Path(f"/proc/{pid}/autogroup").write_text(str(os.getpriority(os.PRIO_PROCESS, 0)))
    except OSError:
        pass  # there are no autogroups, or this user may not raise a priority


class NamedMesh(Mesh):
    """`seed` chooses in which order the hosts become victims, so that none is restarted too often."""

    def __init__(self, case, hosts, rails=1, seed=0):
        super().__init__(case, hosts=hosts, network=FaultyFabric(case, rails))
        self.names = [f"gpu-{i + 1}" for i in range(hosts)]
        self.rails = rails
        self.order = random.Random(seed).sample(range(hosts), hosts)
        self.clock = self.directory / "clock"
        self.clock.write_bytes(bytes(8))
        self.write_pinglist(self.pinglist())

    @property
    def protocols(self):
        return PROTOCOLS if self.rails == 1 else ("rdma",)

    def addresses_of(self, host, rail=None):
        return self.hosts_addresses[host] if rail is None else [self.hosts_addresses[host][rail]]

    def everybody(self):
        return [address for addresses in self.hosts_addresses for address in addresses]

    def pinglist(self, without=None):
        hosts, members = [], []
        for i, name in enumerate(self.names):
            rack = f"rack: r{i // RACK + 1}"
            if self.rails == 1:
                hosts.append(f"  {name}: {{ address: {self.addresses[i]}, {rack} }}")
                members += [name] if i != without else []
                continue
            addresses = ", ".join(f"rail{rail}: {address}" for rail, address in enumerate(self.hosts_addresses[i]))
            hosts.append(f"  {name}: {{ addresses: {{ {addresses} }}, {rack} }}")
            members += [f"{name}/rail{rail}" for rail in range(self.rails)]
        probes = [f"  - {{ name: {each}, protocol: {each}, mesh: [{', '.join(members)}] }}" for each in self.protocols]
        return "\n".join(["version: 1", "defaults: { interval: 100ms, timeout: 300ms, window: 1s }", "hosts:", *hosts,
                          "probes:", *probes]) + "\n"

    # ---- processes ----

    def run(self, name, *arguments, environment=None, inside=None):
        if name == "controller":  # tests/chaos/wall_clock.cpp shows it a clock that is set while it runs
            environment = {"LD_PRELOAD": binary("libchaos_wall_clock.so"), "PINGLOOM_TEST_CLOCK": str(self.clock)}
        process = super().run(name, *arguments, environment=environment, inside=inside)
        share_priority(process.pid)
        return process

    def set_clock(self, seconds):
        with open(self.clock, "r+b") as file:  # in place: it is mapped
            file.write(struct.pack("=q", seconds))

    def be_busy(self, processes):
        """Starts so many processes that do nothing but work."""
        return [self.run(f"busy-{i}", sys.executable, "-c", BUSY) for i in range(processes)]

    # ---- what it shows ----

    def verdict(self):
        return self.get("/api/v1/incidents").json()

    def accused(self):
        """{culprit: its open incident}"""
        return {each["culprit"]: each for each in self.verdict()["open"]}

    def wait_until_well(self, seconds=90, besides=()):
        """Every pair has rows that are ok, and no incident is open but of these culprits."""
        pairs = self.pairs(self.everybody())
        for protocol in self.protocols:
            self.wait_for_rows(protocol, pairs=pairs, state="ok", seconds=seconds)
        eventually(lambda: not self.accused().keys() - set(besides), seconds,
                   lambda: f"no incident; open: {self.verdict()['open']}", interval=0.2)
