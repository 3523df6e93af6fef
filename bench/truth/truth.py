#!/usr/bin/env python3
"""Is the network time that pingloom reports true?

Measures with `pingloom ping udp` between two network namespaces, over a veth pair and through a
relay that adds a known delay, while packet sockets on both ends take the kernel's timestamps of the
same packets. Compares exchange by exchange. Needs root; leaves nothing behind.

Two witnesses, since the first is not free. On departure: a packet socket on the sender's interface
stamps the packet; then the kernel copies the packet to it, and only then it reaches the driver,
where T1 and T3 are taken. That copy, 0.5 us on a warm processor and 2 us on a cold one for each of
the two departures, is in its network time and not in ours. It hides in the times of a relay, but is
more than all there is to measure on a bare veth pair: there the witness only says that ours is not
too long. (What the copy costs differs too much from run to run to be taken off.) On arrival: packet
sockets where the relay receives the packets; they delay nothing before T1 and T3, and our times are
longer than theirs by what the kernel does between its own stamp and the wire.
"""

import argparse
import collections
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import figures  # noqa: E402

PATIENCE = 60  # seconds for a child to do what takes far less
PORT = 20710
PROBER, RESPONDER = "10.231.0.1", "10.231.0.2"
ALLOWED_NS, ALLOWED_SHARE = 300, 0.10
# The relay's delay each way, and the interval of the pings: short, because a processor that did
# something else meanwhile has cold caches, and one at a time.
TOPOLOGIES = {"none": "1ms", "50us": "1ms", "500us": "4ms", "5ms": "25ms"}
SPIN = "while :; do :; done"


def reap(child):
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class Lab:
    """Namespaces a (prober), b (responder) and, with a relay, r between them."""

    def __init__(self, tool, delay):
        self.tool, self.delay = tool, delay
        self.prefix = f"pltruth{os.getpid()}"
        self.children = []

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.terminate()
        for child in self.children:
            reap(child)
        for name in "abr":
            subprocess.run(["ip", "netns", "del", self.space(name)], capture_output=True)

    def space(self, name):
        return f"{self.prefix}{name}"

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)

    def pair(self, space_one, one, space_other, other):
        self.ip("link", "add", one, "netns", self.space(space_one), "type", "veth",
                "peer", "name", other, "netns", self.space(space_other))
        for space, link in ((space_one, one), (space_other, other)):
            self.ip("-n", self.space(space), "link", "set", link, "up")

    def build(self):
        # A processor that sleeps between two pings has cold caches, and timestamps with them.
        for _ in range(os.cpu_count()):
            self.children.append(subprocess.Popen(["chrt", "-i", "0", "sh", "-c", SPIN]))
        for name in "ab" if self.delay is None else "abr":
            self.ip("netns", "add", self.space(name))
        if self.delay is None:
            self.pair("a", "va", "b", "vb")
        else:
            self.pair("a", "va", "r", "ra")
            self.pair("b", "vb", "r", "rb")
            self.start("r", self.tool, "relay", "ra", "rb", self.delay)
        for name, link, address in (("a", "va", PROBER), ("b", "vb", RESPONDER)):
            self.ip("-n", self.space(name), "address", "add", f"{address}/24", "dev", link)
        self.start("b", self.tool, "respond", RESPONDER, PORT)

    def command(self, name, *words):
        return ["ip", "netns", "exec", self.space(name), *map(str, words)]

    def start(self, name, *words):
        child = subprocess.Popen(self.command(name, *words), stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        if not select.select([child.stdout], [], [], PATIENCE)[0] or child.stdout.readline() != "ready\n":
            raise SystemExit(f"truth: {words[1]} did not start")
        return child

    def finish(self, child):
        """What it printed after it was told to stop."""
        self.children.remove(child)
        child.terminate()
        return child.communicate(timeout=PATIENCE)[0].splitlines()


# Where each witness sees PING and PONG leave: interface, direction.
DEPARTURE = (("va", "out"), ("vb", "out"))
ARRIVAL = (("ra", "in"), ("rb", "in"))


def witness(lines, ping_leaves, pong_leaves):
    """In the order of the PINGs: the network time by the four packet-socket stamps."""
    stamps = {}
    for link, seen in lines.items():
        for line in seen:
            direction, kind, _, nonce, nanoseconds = line.split()
            stamps.setdefault(nonce, {})[(link, direction, kind)] = int(nanoseconds)
    times = []
    for seen in stamps.values():
        try:
            t1, t2 = seen[(*ping_leaves, "ping")], seen["vb", "in", "ping"]
            t3, t4 = seen[(*pong_leaves, "pong")], seen["va", "in", "pong"]
        except KeyError:
            continue
        times.append((t1, (t4 - t1) - (t3 - t2)))
    return [network for _, network in sorted(times)]


def measure(args, lab, interval, leaves):
    """Pairs (reported, witnessed) in nanoseconds, and the reasons of those left out."""
    ping = lab.command("a", args.ping, "ping", "udp", RESPONDER, "--json", "-i", interval,
                       "--port", PORT)
    subprocess.run(ping + ["-c", "20"], check=True, capture_output=True, timeout=PATIENCE)  # ARP, caches
    what = "all" if leaves is DEPARTURE else "arriving"
    links = {"va": "a", "vb": "b"} | {link: "r" for link, _ in leaves if link[0] == "r"}
    captures = {link: lab.start(space, args.tool, "capture", link, PORT, what)
                for link, space in links.items()}
    run = subprocess.run(ping + ["-c", str(args.count)], stdout=subprocess.PIPE, text=True,
                         timeout=PATIENCE + args.count * 0.1)
    witnessed = witness({link: lab.finish(child) for link, child in captures.items()}, *leaves)
    exchanges = [json.loads(line) for line in run.stdout.splitlines()][:-1]
    # The two lists belong together, one by one, as long as every exchange is in both.
    if any(each["outcome"] != "received" or "ack_lost" in each for each in exchanges):
        raise SystemExit("truth: a packet was lost; run it again on a quieter machine")
    if len(exchanges) != len(witnessed):
        raise SystemExit(f"truth: {len(exchanges)} exchanges, {len(witnessed)} witnessed")
    anomalous = collections.Counter(each["anomalous"] for each in exchanges if "anomalous" in each)
    pairs = [(each["network_ns"], truth) for each, truth in zip(exchanges, witnessed)
             if "network_ns" in each]
    return pairs, anomalous


def share_within(pairs):
    within = sum(abs(reported - truth) <= ALLOWED_NS + ALLOWED_SHARE * truth
                 for reported, truth in pairs)
    return within / len(pairs)


def differences(pairs):
    """Median, 5th and 95th percentile of reported - witnessed, in us."""
    ordered = sorted(reported - truth for reported, truth in pairs)
    return [ordered[int(len(ordered) * q)] / 1000 for q in (0.50, 0.05, 0.95)]


def report(name, by, pairs, anomalous):
    """Prints the figures of one topology as its witness saw them."""
    reported, witnessed = (statistics.median(values) / 1000 for values in zip(*pairs))
    middle, low, high = differences(pairs)
    row = f"{name}, witness at {by}"
    for column, unit, value in (("exchanges", "", len(pairs)), ("witnessed", "us", witnessed),
                                ("reported", "us", reported), ("difference", "us", middle),
                                ("difference, p5", "us", low), ("difference, p95", "us", high),
                                ("within", "%", 100 * share_within(pairs))):
        print(figures.line(f"{row} | {column}", unit, [value]))
    for reason, count in anomalous.items():
        print(f"  {row}: {count} exchanges are left out as {reason}")
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"),
                        help="where pingloom and truth_tool are (default: %(default)s)")
    parser.add_argument("--ping", help="the program to use instead of BIN/pingloom")
    parser.add_argument("-c", "--count", type=int, default=2000, help="how many exchanges to compare in each topology (default: %(default)s)")
    parser.add_argument("--delays", default=",".join(TOPOLOGIES),
                        help="what the relay delays each way, or none for no relay (default: %(default)s)")
    args = parser.parse_args()
    args.tool = (args.bin / "truth_tool").resolve()
    args.ping = args.ping or (args.bin / "pingloom").resolve()
    return args


def main():
    args = arguments()
    if os.geteuid() != 0:
        raise SystemExit("truth: needs root for its network namespaces and packet sockets")
    print(f"Within: |reported - witnessed| <= {ALLOWED_NS / 1000} us + {ALLOWED_SHARE:.0%}. Difference: reported - "
          "witnessed, the median of all exchanges.")
    for delay in args.delays.split(","):
        bare = delay == "none"
        with Lab(args.tool, None if bare else delay) as lab:
            name = "veth pair" if bare else f"relay {delay}"
            witnesses = [("departure", DEPARTURE)]
            if not bare:  # nothing arrives between the two ends of a pair
                witnesses.append(("arrival", ARRIVAL))
            for by, leaves in witnesses:
                pairs, anomalous = measure(args, lab, TOPOLOGIES[delay], leaves)
                report(name, by, pairs, anomalous)
    return 0


if __name__ == "__main__":
    sys.exit(main())
