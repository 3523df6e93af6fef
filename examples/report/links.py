#!/usr/bin/env python3
"""The links of a switch as an example of reports in Python: packets that each link dropped are counted, and a link that
goes down or comes up is an event.

It runs until it is interrupted, or for --seconds."""

import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import pingloom_report  # noqa: E402

EVENTS = 2  # a table of lists in the collector's store
COUNTS = 3  # a table of counters
LINKS = 8


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", help="ADDRESS or ADDRESS:PORT (default 127.0.0.1, port 20716)")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    reporter = pingloom_report.Reporter(options.translator)
    up = [True] * LINKS
    end = time.monotonic() + options.seconds
    try:
        while time.monotonic() < end:
            link = random.randrange(LINKS)
            if up[link]:
                reporter.increment(COUNTS, b"link-%d" % link, random.randrange(1, 10) * (link + 1))
            if random.random() < 0.01:
                up[link] = not up[link]
                reporter.append(EVENTS, b"link-%d is %s" % (link, b"up" if up[link] else b"down"))
            time.sleep(0.02)
    except KeyboardInterrupt:
        pass
    reporter.flush()
    status = reporter.status
    reporter.close()
    print(f"{status.sent} reports sent, {status.skipped} skipped")


if __name__ == "__main__":
    main()
