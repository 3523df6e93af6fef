"""A network namespace for one test: what it drops or counts concerns nobody else."""

import ctypes
import os
import subprocess
import unittest

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)

_in_user_namespace = False


def _unshare(flags):
    if LIBC.unshare(flags) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _become_root_of_a_user_namespace():
    global _in_user_namespace
    user, group = os.getuid(), os.getgid()
    _unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _in_user_namespace = True


def enter():
    """Moves this process, and all it starts from now on, into a network of its own with loopback
    up. Skips the test, with the reason, where the kernel does not permit it or nft is missing."""
    try:
        if os.geteuid() != 0 and not _in_user_namespace:
            _become_root_of_a_user_namespace()
        _unshare(CLONE_NEWNET)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True, capture_output=True)
        nft("add table inet pingloom_probe_nft_works", "delete table inet pingloom_probe_nft_works")
    except FileNotFoundError as failure:
        raise unittest.SkipTest(f"{failure.filename} is not installed") from failure
    except OSError as failure:
        raise unittest.SkipTest(f"a network namespace is not permitted here: {failure}") from failure
    except subprocess.CalledProcessError as failure:
        raise unittest.SkipTest(f"{failure.cmd[0]} is not permitted here: "
                                f"{failure.stderr.decode(errors='replace').strip()}") from failure


def nft(*commands):
    return subprocess.run(["nft", "-f", "-"], input="\n".join(commands).encode(), check=True,
                          capture_output=True).stdout.decode()


class Table:
    """nftables rules in a table of their own, with named counters."""

    def __init__(self):
        nft("add table inet pingloom_test",
            "add chain inet pingloom_test sent { type filter hook output priority 0; }",
            "add chain inet pingloom_test arriving { type filter hook prerouting priority 0; }")

    def count(self, chain, counter, match, verdict=""):
        nft(f"add counter inet pingloom_test {counter}",
            f"add rule inet pingloom_test {chain} {match} counter name {counter} {verdict}")

    def block(self, counter, match):
        """From now on these are refused before they leave, and counted by no other rule."""
        nft(f"add counter inet pingloom_test {counter}",
            f"insert rule inet pingloom_test sent {match} counter name {counter} drop")

    def packets(self, counter):
        text = subprocess.run(["nft", "list", "counter", "inet", "pingloom_test", counter],
                              check=True, capture_output=True).stdout.decode()
        words = text.split()
        return int(words[words.index("packets") + 1])


def udp_probe(kind, extra=""):
    """Matches probe packets of one kind (probe_packet.PING ...): magic "PL" and the type are in the
    first 4 bytes behind the 8 of the UDP header."""
    return f"{extra} udp length >= 32 @th,64,16 0x504c @th,88,8 {kind}"
