"""Faults of a fabric by name: losses made with nftables in the switches, delays with a process in the receiving node."""
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys

import network
from layout import FabricError

KINDS = "link=FROM-TO, cable=A-B, switch=NAME or host=NAME, each with ,SHARE% or ,DELAYus, or blackhole=FROM-TO,SHARE%"
PIDS = pathlib.Path("/run/pingloom-fabric-delays")
MOST_DELAY = 1_000_000  # microseconds
JITTER = 0.1  # of the delay


@dataclasses.dataclass(frozen=True)
class Fault:
    """`kind` is link, cable, switch, host or blackhole; `where` one or two nodes. Either `permille` of the packets are lost, or
    all are delayed by `delay` microseconds."""
    kind: str
    where: tuple
    permille: int
    delay: int = 0

    @staticmethod
    def parse(text, layout):
        match = re.fullmatch(r"(link|cable|switch|host|blackhole)=([a-z0-9]+)(?:-([a-z0-9]+))?,"
                             r"(?:(\d{1,3}(?:\.\d)?)%|(\d{1,7})(us|ms))", text)
        if not match:
            raise FabricError(f"'{text}' is no fault; write {KINDS}, such as link=spine1-leaf0,10%")
        kind, first, second, share, delay, unit = match.groups()
        permille = round(float(share or 0) * 10)
        delay = int(delay or 0) * (1000 if unit == "ms" else 1)
        if share and not 1 <= permille <= 1000:
            raise FabricError(f"'{text}': the share is from 0.1% to 100%")
        if not share and (not 1 <= delay <= MOST_DELAY or kind == "blackhole"):
            raise FabricError(f"'{text}': a delay is from 1us to 1000ms, and black holes have none")
        where = (first, second) if second else (first,)
        Fault._check_place(text, kind, where, layout)
        return Fault(kind, where, permille, delay)

    @staticmethod
    def _check_place(text, kind, where, layout):
        for node in where:
            if node not in layout.nodes():
                raise FabricError(f"'{text}': there is no {node} in this fabric")
        links = {(link.lower, link.upper) for link in layout.fabric_links()}
        pair = kind in ("link", "cable", "blackhole")
        if pair and where not in links and where[::-1] not in links:
            raise FabricError(f"'{text}': {kind} needs a leaf and a spine, such as {kind}=spine1-leaf0")
        if kind == "switch" and (len(where) > 1 or where[0].startswith("host")):
            raise FabricError(f"'{text}': switch needs a leaf or a spine")
        if kind == "host" and (len(where) > 1 or not where[0].startswith("host")):
            raise FabricError(f"'{text}': host needs a host, such as host=host3")

    def rules(self, layout):
        """(node, condition) of each rule that loses packets."""
        chance = f"numgen random mod 1000 < {self.permille}"
        if self.permille == 1000:
            chance = ""
        if self.kind == "blackhole":
            ip = "ip6" if layout.ipv6 else "ip"
            chance = (f"meta l4proto udp jhash {ip} saddr . {ip} daddr . udp sport . udp dport "
                      f"mod 1000 seed 0x5eed < {self.permille}")
        if self.kind in ("link", "blackhole"):
            return [(self.where[0], f'oifname "{self.where[1]}" {chance}')]
        if self.kind == "cable":
            a, b = self.where
            return [(a, f'oifname "{b}" {chance}'), (b, f'oifname "{a}" {chance}')]
        if self.kind == "switch":
            return [(self.where[0], chance)]
        host = self.where[0]
        leaf = f"leaf{layout.leaf_of(int(host.removeprefix('host')))}"
        return [(leaf, f'oifname "{host}" {chance}'), (leaf, f'iifname "{host}" {chance}')]

    def arrivals(self, layout):
        """(node, devices) where delayed packets arrive."""
        if self.kind == "link":
            return [(self.where[1], [self.where[0]])]
        if self.kind == "cable":
            a, b = self.where
            return [(a, [b]), (b, [a])]
        node = self.where[0]
        links = layout.host_links() + layout.fabric_links()
        peers = [link.upper if link.lower == node else link.lower for link in links if node in (link.lower, link.upper)]
        if self.kind == "switch":
            return [(node, peers)]
        return [(node, peers), (peers[0], [node])]


def add(fault, layout):
    if fault.delay:
        for node, devices in fault.arrivals(layout):
            _delay(node, devices, fault.delay, layout)
        return
    for node, condition in fault.rules(layout):
        # What the switch itself sends, such as its ICMP messages, takes the same links.
        own = condition if "iifname" not in condition else None
        table = "add table inet fault\n"
        for hook, rule in (("forward", condition), ("output", own)):
            table += f"add chain inet fault {hook} {{ type filter hook {hook} priority 0; }}\n"
            if rule is not None:
                table += f"add rule inet fault {hook} {rule} counter drop\n"
        network.run(network.inside(node, ["nft", "-f", "-"]), table)


def _delay(node, devices, delay, layout):
    """Sends the UDP packets that arrive at these devices through a delay line. Those whose hop limit ends here are answered at
    once."""
    if network.run(network.inside(node, ["ip", "link", "show", "delayin"]), check=False).returncode == 0:
        raise FabricError(f"packets that arrive at {node} are delayed already; first: scripts/fabric.sh fault clear")
    network.batch(node, [line for tap in ("delayin", "delayout")
                         for line in (f"tuntap add dev {tap} mode tap", f"link set {tap} up")])
    network.set_values(node, [("ipv4/conf/all/rp_filter", 0), ("ipv4/conf/delayout/rp_filter", 0)])
    line = subprocess.Popen(
        network.inside(node, [sys.executable, "-B", str(pathlib.Path(__file__).with_name("delay_line.py")), "delayin",
                              "delayout", str(delay), str(round(delay * JITTER)), "--own"]),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    if line.stdout.readline() != "ready\n":
        raise FabricError(f"the delay line of {node} did not start")
    with PIDS.open("a") as file:
        file.write(f"{line.pid}\n")
    hops = "ip6 hoplimit" if layout.ipv6 else "ip ttl"
    ports = ", ".join(devices)
    network.run(network.inside(node, ["nft", "-f", "-"]), f"""table netdev delay {{
  chain arriving {{
    type filter hook ingress devices = {{ {ports} }} priority 0;
    meta l4proto udp {hops} > 1 counter fwd to delayin
  }}
}}
""")


def stop_delays():
    if not PIDS.exists():
        return
    for pid in PIDS.read_text().split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    PIDS.unlink()


def clear(layout):
    stop_delays()
    for node in layout.nodes():
        network.run(network.inside(node, ["nft", "flush", "ruleset"]), check=False)
        for tap in ("delayin", "delayout"):
            network.run(network.inside(node, ["ip", "link", "del", tap]), check=False)


def describe(layout):
    """The rules in force and how many packets each has dropped or delayed, by node."""
    lines = []
    for node in layout.nodes():
        listed = network.run(network.inside(node, ["nft", "list", "ruleset"]), check=False).stdout
        lines += [f"{node}: {line.strip()}" for line in listed.split("\n") if "counter" in line]
    return lines
