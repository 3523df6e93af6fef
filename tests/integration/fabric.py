"""Hosts with networks of their own: one network namespace each, joined to a bridge by veth pairs, with
IPv4 and IPv6. The controller and the test itself are on the bridge. On request the hosts have a second
network, which the test may break while the control connections go on."""

import contextlib
import os
import subprocess

import namespaces
import private_network
from processes import Process


def ip(*words, inside=None):
    subprocess.run(["ip", *words], check=True, capture_output=True, preexec_fn=inside)


@contextlib.contextmanager
def apart(near, count):
    """Cuts these of the first `count` hosts off from the others, both ways. All reach the bridge itself."""
    far = set(range(count)) - set(near)
    near, far = (", ".join(f'"port{index}"' for index in sorted(part)) for part in (near, far))
    private_network.nft("add table bridge chaos",
                        "add chain bridge chaos through { type filter hook forward priority 0; }",
                        f"add rule bridge chaos through iifname {{ {near} }} oifname {{ {far} }} drop",
                        f"add rule bridge chaos through iifname {{ {far} }} oifname {{ {near} }} drop")
    try:
        yield
    finally:
        private_network.nft("delete table bridge chaos")


class Fabric:
    """Skips the test where namespaces, bridges or veth pairs are not permitted."""

    home = "10.77.0.254"
    home6 = "fd77::fe"

    def __init__(self, case):
        self.case = case
        self._holders = []  # a process for each host
        self._networks = []  # a descriptor for each host
        with namespaces.or_skip():
            namespaces.unshare(namespaces.CLONE_NEWNET)
            ip("link", "set", "lo", "up")
            ip("link", "add", "fabric", "type", "bridge", "mcast_snooping", "0")
            self._bring_up("fabric", self.home, self.home6)

    @staticmethod
    def _bring_up(device, v4, v6, inside=None):
        ip("addr", "add", f"{v4}/24", "dev", device, inside=inside)
        ip("-6", "addr", "add", f"{v6}/64", "dev", device, "nodad", inside=inside)
        ip("link", "set", device, "up", inside=inside)

    def hosts(self, count):
        return [self._add(i) for i in range(count)]

    def add(self):
        """One more host: its index and its addresses."""
        index = self.size()
        return index, self._add(index)

    def size(self):
        return len(self._holders)

    def _add(self, index):
        """Makes a host; its addresses."""
        holder = Process("holder", ["sleep", "600"], os.devnull,
                         inside=lambda: namespaces.unshare(namespaces.CLONE_NEWNET))
        self.case.addCleanup(holder.discard)
        self._holders.append(holder)
        self._networks.append(os.open(f"/proc/{holder.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        self.case.addCleanup(os.close, self._networks[index])
        ip("link", "add", f"port{index}", "type", "veth", "peer", "name", "eth0", "netns",
           str(holder.pid))
        ip("link", "set", f"port{index}", "master", "fabric", "up")
        addresses = [f"10.77.0.{index + 1}", f"fd77::{index + 1:x}"]
        ip("link", "set", "lo", "up", inside=lambda: self.inside(index))
        self._bring_up("eth0", *addresses, inside=lambda: self.inside(index))
        return addresses

    def inside(self, index):
        """Moves the calling process to this host."""
        namespaces.enter(self._networks[index])


class FabricWithData(Fabric):
    """The addresses of its hosts are those of a second interface, `data0`, on a bridge of its own. The
    hosts reach the controller by the first interface."""

    def __init__(self, case):
        super().__init__(case)
        with namespaces.or_skip():
            ip("link", "add", "data", "type", "bridge", "mcast_snooping", "0")
            ip("link", "set", "data", "up")

    def _add(self, index):
        super()._add(index)
        ip("link", "add", f"data{index}", "master", "data", "up", "type", "veth", "peer", "name", "data0",
           "netns", str(self._holders[index].pid))
        self.at(index, "addr", "add", self.data_address(index), "dev", "data0")
        self.at(index, "link", "set", "data0", "up")
        return [self.data_address(index).split("/")[0]]

    @staticmethod
    def data_address(index):
        return f"10.78.0.{index + 1}/24"

    def at(self, index, *words):
        """Runs ip on this host."""
        ip(*words, inside=lambda: self.inside(index))
