"""A network namespace for one test: what it drops or counts concerns nobody else."""

import subprocess

import namespaces


def enter():
    """Moves this process, and all it starts from now on, into a network of its own with loopback
    up. Skips the test, with the reason, where the kernel does not permit it or nft is missing."""
    with namespaces.or_skip():
        namespaces.unshare(namespaces.CLONE_NEWNET)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True, capture_output=True)
        nft("add table inet pingloom_probe_nft_works", "delete table inet pingloom_probe_nft_works")


def nft(*commands, inside=None):
    return subprocess.run(["nft", "-f", "-"], input="\n".join(commands).encode(), check=True,
                          capture_output=True, preexec_fn=inside).stdout.decode()


class Table:
    """nftables rules in a table of their own, with named counters. `inside` moves a process to the
    network they are for."""

    def __init__(self, inside=None):
        self._inside = inside
        self._nft("add table inet pingloom_test",
                  "add chain inet pingloom_test sent { type filter hook output priority 0; }",
                  "add chain inet pingloom_test arriving { type filter hook prerouting priority 0; }")

    def _nft(self, *commands):
        nft(*commands, inside=self._inside)

    def count(self, chain, counter, match, verdict=""):
        self._nft(f"add counter inet pingloom_test {counter}",
                  f"add rule inet pingloom_test {chain} {match} counter name {counter} {verdict}")

    def block(self, counter, match):
        """From now on these are refused before they leave, and counted by no other rule."""
        self._nft(f"add counter inet pingloom_test {counter}",
                  f"insert rule inet pingloom_test sent {match} counter name {counter} drop")

    def packets(self, counter):
        text = subprocess.run(["nft", "list", "counter", "inet", "pingloom_test", counter],
                              check=True, capture_output=True,
                              preexec_fn=self._inside).stdout.decode()
        words = text.split()
        return int(words[words.index("packets") + 1])


def udp_probe(kind, extra=""):
    """Matches probe packets of one kind (probe_packet.PING ...): magic "PL" and the type are in the
    first 4 bytes behind the 8 of the UDP header. Trace packets (docs/paths.md) are left out: the low
    bits of their ids are 0."""
    return f"{extra} udp length >= 32 @th,64,16 0x504c @th,88,8 {kind} @th,144,16 != 0"
