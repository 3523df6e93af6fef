#!/usr/bin/python3
"""A queue that is instrumented with prometheus_client and shows its metrics as pages. Only the two marked lines know
pingloom. It runs for --seconds, or until it is ended."""

import argparse
import random
import time

import pingloom_pages_prometheus  # the first line
from prometheus_client import Counter, Gauge, Histogram

DONE = Counter("jobs_done", "Jobs that were done.", ["kind"])
WAITING = Gauge("jobs_waiting", "Jobs that wait.")
TOOK = Histogram("job_seconds", "How long a job took.", buckets=(0.001, 0.0025, 0.005, 0.01, 0.1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=86400)
    end = time.monotonic() + parser.parse_args().seconds
    pingloom_pages_prometheus.publish("queue")  # the second line
    while time.monotonic() < end:
        WAITING.set(random.randrange(10))
        with TOOK.time():
            time.sleep(random.expovariate(300))
        DONE.labels("mail").inc()


if __name__ == "__main__":
    main()
