"""The shape of a leaf-spine fabric: which nodes there are, their links and their addresses. Pure."""
import dataclasses
import ipaddress
import re

MOST_SWITCHES = 64
MOST_HOSTS = 512
MANAGEMENT = ipaddress.ip_network("10.99.0.0/16")


class FabricError(Exception):
    """What is wrong with a request, for people."""


@dataclasses.dataclass(frozen=True)
class Link:
    """A point-to-point link; `upper` is the node that is further from the hosts."""
    lower: str
    upper: str
    lower_address: str
    upper_address: str


@dataclasses.dataclass(frozen=True)
class Layout:
    leaves: int
    spines: int
    hosts: int
    ipv6: bool = False

    @staticmethod
    def parse(text, ipv6=False):
        """LEAVESxSPINESxHOSTS, hosts in all: 4x4x8 has two hosts at each of four leaves."""
        match = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})x([1-9]\d{0,2})", text)
        if not match:
            raise FabricError(f"'{text}' is no fabric; write LEAVESxSPINESxHOSTS, such as 4x4x8")
        leaves, spines, hosts = map(int, match.groups())
        if leaves > MOST_SWITCHES or spines > MOST_SWITCHES:
            raise FabricError(f"at most {MOST_SWITCHES} leaves and as many spines")
        if not leaves <= hosts <= MOST_HOSTS or hosts > 64 * leaves:
            raise FabricError(f"hosts: from one to 64 at each leaf, and at most {MOST_HOSTS} in all")
        return Layout(leaves, spines, hosts, ipv6)

    def leaf_names(self):
        return [f"leaf{number}" for number in range(self.leaves)]

    def spine_names(self):
        return [f"spine{number}" for number in range(self.spines)]

    def host_names(self):
        return [f"host{number}" for number in range(self.hosts)]

    def nodes(self):
        return self.leaf_names() + self.spine_names() + self.host_names()

    def leaf_of(self, host):
        return host * self.leaves // self.hosts

    def _address(self, plane, leaf, last):
        return f"fd00:{plane}:{leaf}::{last:x}" if self.ipv6 else f"10.{plane}.{leaf}.{last}"

    def rack(self, leaf):
        """The network of all hosts at a leaf."""
        return f"fd00:1:{leaf}::/64" if self.ipv6 else f"10.1.{leaf}.0/24"

    def prefix(self):
        return 127 if self.ipv6 else 31

    def host_links(self):
        links, at_leaf = [], [0] * self.leaves
        for host in range(self.hosts):
            leaf = self.leaf_of(host)
            last = 2 * at_leaf[leaf]
            at_leaf[leaf] += 1
            links.append(Link(f"host{host}", f"leaf{leaf}", self._address(1, leaf, last + 1),
                              self._address(1, leaf, last)))
        return links

    def fabric_links(self):
        return [Link(f"leaf{leaf}", f"spine{spine}", self._address(2, leaf, 2 * spine),
                     self._address(2, leaf, 2 * spine + 1))
                for leaf in range(self.leaves) for spine in range(self.spines)]

    def host_addresses(self):
        return {link.lower: link.lower_address for link in self.host_links()}

    def management_address(self, host):
        return str(MANAGEMENT[256 + host])

    @staticmethod
    def controller_address():
        return str(MANAGEMENT[1])

    def topology(self):
        """The topology file of docs/pinglist.md."""
        addresses = {name: [] for name in self.leaf_names() + self.spine_names()}
        for link in self.host_links():
            addresses[link.upper].append(link.upper_address)
        for link in self.fabric_links():
            addresses[link.lower].append(link.lower_address)
            addresses[link.upper].append(link.upper_address)
        lines = ["switches:"]
        for name, own in addresses.items():
            tier = 1 if name.startswith("leaf") else 2
            quoted = ", ".join(f'"{address}"' for address in own)
            lines.append(f"  {name}: {{ tier: {tier}, addresses: [{quoted}] }}")
        return "\n".join(lines) + "\n"

    def pinglist_hosts(self):
        """The section `hosts` of a pinglist."""
        lines = ["hosts:"]
        for number, (name, address) in enumerate(self.host_addresses().items()):
            lines.append(f'  {name}: {{ address: "{address}", rack: rack{self.leaf_of(number)} }}')
        return "\n".join(lines) + "\n"
