"""Hosts with networks of their own whose packets can be lost or delayed while everything runs.

Rules of nftables look at each packet when it comes from its host, so one rule is one direction of one pair. A delayed packet takes
the way of a delay line (scripts/fabric/delay_line.py). The kernel's own delays (netem) are not in every kernel.
"""

import itertools
import os
import pathlib
import subprocess
import sys

import namespaces
from fabric import Fabric, ip
from private_network import nft
from processes import Process

ROCE = 4791
DELAY, JITTER = 2000, 300  # microseconds, each way
LOSS = 20  # percent, each way
PROTOCOLS = ("rdma", "udp")
LIFETIME = "10000"  # seconds


class FaultyFabric(Fabric):
    """`rails`: the addresses of a host; rail r has 10.77.r.0/24."""

    def __init__(self, case, rails=1):
        super().__init__(case)
        self.rails = rails
        with namespaces.or_skip():
            for tap in ("delay0", "delay1"):
                ip("tuntap", "add", "dev", tap, "mode", "tap")
                ip("link", "set", tap, "up")
            ip("link", "set", "delay1", "master", "fabric")
            # The frames that leave the delay line are those of other ports.
            ip("link", "set", "delay1", "type", "bridge_slave", "learning", "off")
        line = pathlib.Path(__file__).resolve().parents[2] / "scripts/fabric/delay_line.py"
        self._line = subprocess.Popen([sys.executable, "-B", str(line), "delay0", "delay1", str(DELAY), str(JITTER)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        case.addCleanup(self._end_line)
        if self._line.stdout.readline() != "ready\n":
            raise RuntimeError("the delay line did not start")

    def _end_line(self):
        self._line.stdin.close()
        self._line.wait(10)
        self._line.stdout.close()

    def hosts(self, count):
        made = [self._add(i) for i in range(count)]
        ports = ", ".join(f"port{i}" for i in range(count))
        sets = [f"set {what}_{protocol} {{ type ipv4_addr . ipv4_addr; }}"
                for what in ("slow", "lossy") for protocol in PROTOCOLS]
        rules = []
        for protocol in PROTOCOLS:
            match = f"udp dport {'' if protocol == 'rdma' else '!= '}{ROCE} ip saddr . ip daddr"
            rules += [f"{match} @lossy_{protocol} numgen random mod 100 < {LOSS} drop",
                      f"{match} @slow_{protocol} fwd to delay0"]
        body = "\n".join(sets + [f"chain arriving {{ type filter hook ingress devices = {{ {ports} }} priority 0;"] + rules)
        nft(f"table netdev faults {{\n{body}\n}}\n}}\n")
        return made

    def _add(self, index):
        holder = Process("holder", ["sleep", LIFETIME], os.devnull,
                         inside=lambda: namespaces.unshare(namespaces.CLONE_NEWNET))
        self.case.addCleanup(holder.discard)
        self._networks.append(os.open(f"/proc/{holder.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        self.case.addCleanup(os.close, self._networks[index])
        ip("link", "add", f"port{index}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        ip("link", "set", f"port{index}", "master", "fabric", "up")
        addresses = [f"10.77.{rail}.{index + 1}" for rail in range(self.rails)]

        def inside():
            self.inside(index)

        ip("link", "set", "lo", "up", inside=inside)
        for address in addresses:
            ip("addr", "add", f"{address}/16", "dev", "eth0", inside=inside)
        ip("link", "set", "eth0", "up", inside=inside)
        return addresses

    @staticmethod
    def _bring_up(device, v4, v6, inside=None):
        ip("addr", "add", f"{v4}/16", "dev", device, inside=inside)
        ip("link", "set", device, "up", inside=inside)

    # ---- faults ----

    @staticmethod
    def impair(what, ways, protocols=PROTOCOLS):
        """From now on the packets of these ways, (source, destination), are "slow" or "lossy"."""
        elements = ", ".join(f"{source} . {destination}" for source, destination in ways)
        nft("\n".join(f"add element netdev faults {what}_{protocol} {{ {elements} }}" for protocol in protocols))

    @staticmethod
    def heal():
        nft("\n".join(f"flush set netdev faults {what}_{protocol}"
                      for what, protocol in itertools.product(("slow", "lossy"), PROTOCOLS)))

    @staticmethod
    def plug(index, up):
        """The host's cable, with all that goes through it."""
        ip("link", "set", f"port{index}", "up" if up else "down")
