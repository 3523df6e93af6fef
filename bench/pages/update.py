#!/usr/bin/env python3
"""What an update of a metric costs from Python: nearly all of it is ctypes.

    bench/pages/update.py --runs 9
"""

import argparse
import os
import pathlib
import sys
import timeit

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/report"), str(ROOT / "python")]
os.environ.setdefault("PINGLOOM_PAGES_LIBRARY", str(ROOT / "build/release/lib/libpingloom-pages.so"))
import figures  # noqa: E402
import pingloom_pages  # noqa: E402

UPDATES = 200_000


def nothing(_):
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9, help="how many runs to make (default: %(default)s)")
    args = parser.parse_args()
    pages = pingloom_pages.Pages("bench")
    counter, gauge, histogram = pages.counter("a").add, pages.gauge("b").set, pages.histogram("c").observe
    updates = {"counter": counter, "gauge": lambda: gauge(1.5), "histogram": lambda: histogram(0.001),
               "limit: call of a function that does nothing": lambda: nothing(1.5)}
    samples = {name: [] for name in updates}
    for _ in range(args.runs):
        for name, update in updates.items():
            samples[name].append(timeit.timeit(update, number=UPDATES) / UPDATES * 1e6)
    for name, each in samples.items():
        print(figures.line(name, "us", each))


if __name__ == "__main__":
    main()
