#!/usr/bin/python3
"""Workers that a server forks, as gunicorn does, each with metric pages of its own. Only the two marked lines know
pingloom. It runs for --seconds, or until it is interrupted."""

import argparse
import os
import random
import time

import pingloom_pages_prometheus  # the first line
pingloom_pages_prometheus.keep_values("workers")  # the second line, before metrics are made
from prometheus_client import Counter, Gauge, Histogram  # noqa: E402

DONE = Counter("requests_done", "Requests that were answered.", ["path"])
ANSWERING = Gauge("requests_answering", "Requests that are being answered.")
TOOK = Histogram("request_seconds", "How long a request took.", buckets=(0.001, 0.0025, 0.005, 0.01, 0.1))


def work(end):
    while time.monotonic() < end:
        with ANSWERING.track_inprogress(), TOOK.time():
            time.sleep(random.expovariate(300))
        DONE.labels(random.choice(("/", "/orders"))).inc()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--workers", type=int, default=3)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    workers = []
    for _ in range(options.workers):
        workers.append(os.fork())
        if workers[-1] == 0:
            random.seed()
            work(end)
            os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)


if __name__ == "__main__":
    main()
