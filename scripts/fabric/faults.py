"""Faults of a fabric by name, made with nftables in the switches that forward the packets."""
import dataclasses
import re

import network
from layout import FabricError

KINDS = "link=FROM-TO, cable=A-B, switch=NAME, host=NAME or blackhole=FROM-TO, each with ,SHARE%"


@dataclasses.dataclass(frozen=True)
class Fault:
    """`kind` is link, cable, switch, host or blackhole; `where` one or two nodes."""
    kind: str
    where: tuple
    permille: int

    @staticmethod
    def parse(text, layout):
        match = re.fullmatch(r"(link|cable|switch|host|blackhole)=([a-z0-9]+)(?:-([a-z0-9]+))?,"
                             r"(\d{1,3}(?:\.\d)?)%", text)
        if not match:
            raise FabricError(f"'{text}' is no fault; write {KINDS}, such as link=spine1-leaf0,10%")
        kind, first, second, share = match.groups()
        permille = round(float(share) * 10)
        if not 1 <= permille <= 1000:
            raise FabricError(f"'{text}': the share is from 0.1% to 100%")
        where = (first, second) if second else (first,)
        for node in where:
            if node not in layout.nodes():
                raise FabricError(f"'{text}': there is no {node} in this fabric")
        links = {(link.lower, link.upper) for link in layout.fabric_links()}
        pair = kind in ("link", "cable", "blackhole")
        if pair and where not in links and where[::-1] not in links:
            raise FabricError(f"'{text}': {kind} needs a leaf and a spine, such as {kind}=spine1-leaf0")
        if kind == "switch" and (second or first.startswith("host")):
            raise FabricError(f"'{text}': switch needs a leaf or a spine")
        if kind == "host" and (second or not first.startswith("host")):
            raise FabricError(f"'{text}': host needs a host, such as host=host3")
        return Fault(kind, where, permille)

    def rules(self, layout):
        """(node, condition) of each rule that makes the fault."""
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


def add(fault, layout):
    for node, condition in fault.rules(layout):
        # What the switch itself sends, such as its ICMP messages, takes the same links.
        own = condition if "iifname" not in condition else None
        table = "add table inet fault\n"
        for hook, rule in (("forward", condition), ("output", own)):
            table += f"add chain inet fault {hook} {{ type filter hook {hook} priority 0; }}\n"
            if rule is not None:
                table += f"add rule inet fault {hook} {rule} counter drop\n"
        network.run(network.inside(node, ["nft", "-f", "-"]), table)


def clear(layout):
    for node in layout.leaf_names() + layout.spine_names():
        network.run(network.inside(node, ["nft", "flush", "ruleset"]), check=False)


def describe(layout):
    """The rules in force and how many packets each has dropped, by switch."""
    lines = []
    for node in layout.leaf_names() + layout.spine_names():
        listed = network.run(network.inside(node, ["nft", "list", "ruleset"]), check=False).stdout
        lines += [f"{node}: {line.strip()}" for line in listed.split("\n") if "counter" in line]
    return lines
