#!/usr/bin/env python3
"""The state of each RDMA queue pair of this host as an example of keyed telemetry: what the kernel knows of it, by
iproute2's `rdma resource show qp`. The key is HOST/DEVICE/QPN, and the value a text like "RC RTS sq 1234 rq 87": type,
state, and the packet sequence numbers, which show whether the pair moves.

It runs until it is interrupted, or for --seconds. The table has to take values of 40 bytes."""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import pingloom_report  # noqa: E402

TABLE = 1  # a keyed table in the collector's store
INTERVAL = 1  # s
LONGEST_KEY, LONGEST_VALUE = 40, 40  # bytes


def queue_pairs():
    """Yields device, number and text of each queue pair."""
    shown = subprocess.run(["rdma", "-j", "resource", "show", "qp"], capture_output=True, text=True, check=True).stdout
    for pair in json.loads(shown or "[]"):
        numbers = " ".join(f"{name} {pair[field]}" for name, field in (("sq", "sq-psn"), ("rq", "rq-psn")) if field in pair)
        yield pair["ifname"], pair["lqpn"], f"{pair.get('type', '?')} {pair.get('state', '?')} {numbers}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", help="ADDRESS or ADDRESS:PORT (default 127.0.0.1, port 20716)")
    parser.add_argument("--table", type=int, default=TABLE, help=f"the number of a keyed table (default {TABLE})")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    host = socket.gethostname().split(".")[0]
    end = time.monotonic() + options.seconds
    with pingloom_report.Reporter(options.translator) as reporter:
        try:
            while time.monotonic() < end:
                for device, number, text in queue_pairs():
                    key = f"{host}/{device}/{number}".encode()
                    reporter.key_write(options.table, key[-LONGEST_KEY:], text.encode()[:LONGEST_VALUE])
                reporter.flush()
                time.sleep(INTERVAL)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
