"""Judges what the checks of hardware-check.sh have measured: judge.py ping|perftest|mesh ARGUMENT...

Prints the figures; the last line says what is wrong, if anything is, and the exit code is 1 then."""

import json
import re
import sys
import urllib.parse
import urllib.request


def fail(reason):
    print(reason)
    sys.exit(1)


def ping(path):
    """No ping is lost, and the parts of each exchange add up to its round trip."""
    with open(path, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    exchanges = [line for line in documents if "outcome" in line]
    summary = documents[-1]["summary"]
    print(json.dumps(summary, indent=1))
    wrong = []
    split = 0
    for exchange in exchanges:
        if "anomalous" in exchange or not all(f"{part}_ns" in exchange
                                              for part in ("network", "responder", "prober", "rtt")):
            continue
        split += 1
        parts = exchange["network_ns"] + exchange["responder_ns"] + exchange["prober_ns"]
        if parts != exchange["rtt_ns"] or exchange["network_ns"] <= 0:
            wrong.append(exchange)
    print(f"{split} of {len(exchanges)} exchanges have the split")
    if wrong:
        fail(f"the parts of {len(wrong)} exchanges contradict each other: {wrong[0]}")
    if summary["lost"] or summary["unreachable"] or not summary["received"]:
        fail(f"{summary['lost']} pings lost, {summary['unreachable']} unreachable")
    if split < 0.95 * len(exchanges):
        fail(f"only {split} of {len(exchanges)} exchanges have the split")


def perftest(read_path, latency_path, bandwidth_path):
    """pingloom's READs beside perftest's. The two run one after the other, so only much slower is wrong."""
    with open(read_path, encoding="utf-8") as document:
        one, many = json.load(document)["phases"]
    row = r"^\s*4096\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)"
    with open(latency_path, encoding="utf-8") as text:
        latency = re.search(row, text.read(), re.M)
    with open(bandwidth_path, encoding="utf-8") as text:
        bandwidth = re.search(row, text.read(), re.M)
    if not latency or not bandwidth:
        fail("perftest's output has no line for 4096 bytes")
    theirs_us, theirs_mb = float(latency[4]), float(bandwidth[3])
    ours_us = one["latency_ns"]["p50"] / 1000
    ours_mb = many["bytes_per_second"] / 2**20
    print(f"latency of 4096 bytes, median: pingloom {ours_us:.2f} us, perftest {theirs_us:.2f} us, "
          f"ratio {ours_us / theirs_us:.2f}")
    print(f"bandwidth: pingloom {ours_mb:.0f} MiB/s at depth {many['depth']}, perftest {theirs_mb:.0f}, "
          f"ratio {ours_mb / theirs_mb:.2f}")
    # pingloom waits for events here and perftest spins, which costs microseconds of waking up.
    if ours_us > 2 * theirs_us + 20:
        fail(f"a READ takes {ours_us:.1f} us, and perftest's {theirs_us:.1f} us")


def mesh(url, *addresses):
    """What the rows of the last hours say: counts, clock, anomalies by reason."""
    for source, destination in (addresses, addresses[::-1]):
        path = "/".join(urllib.parse.quote(part) for part in ("hardware", source, destination))
        with urllib.request.urlopen(f"{url}/api/v1/pairs/{path}", timeout=10) as answer:
            print(json.dumps(json.load(answer), indent=1))
        with urllib.request.urlopen(f"{url}/api/v1/history/pairs/{path}", timeout=10) as answer:
            rows = json.load(answer)["rows"]
        sums = {key: sum(row[key] for row in rows) for key in ("sent", "received", "lost", "unreachable")}
        anomalous = {}
        for row in rows:
            for reason, count in row.get("anomalous", {}).items():
                anomalous[reason] = anomalous.get(reason, 0) + count
        print(f"{source} -> {destination}: {len(rows)} rows, {sums}, anomalous {anomalous}, "
              f"clocks {sorted({row['clock'] for row in rows if row.get('clock')})}")
        if not sums["received"]:
            fail(f"{source} -> {destination}: nothing was received")
        if sum(anomalous.values()) > 0.01 * sums["received"]:
            fail(f"{source} -> {destination}: more than 1 % of the exchanges are anomalous: {anomalous}")


if __name__ == "__main__":
    {"ping": ping, "perftest": perftest, "mesh": mesh}[sys.argv[1]](*sys.argv[2:])
