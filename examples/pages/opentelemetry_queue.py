#!/usr/bin/python3
"""A queue that is instrumented with OpenTelemetry's SDK and shows its metrics as pages. Only the two marked lines know
pingloom. It runs for --seconds, or until it is ended."""

import argparse
import random
import time

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from pingloom_pages_opentelemetry import PagesMetricExporter  # the first line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=86400)
    end = time.monotonic() + parser.parse_args().seconds
    exporter = PagesMetricExporter("queue")  # the second line
    provider = MeterProvider(metric_readers=[PeriodicExportingMetricReader(exporter, export_interval_millis=1000)])
    meter = provider.get_meter("queue")
    done = meter.create_counter("jobs.done", description="Jobs that were done.")
    running = meter.create_up_down_counter("jobs.running", description="Jobs that are being done.")
    took = meter.create_histogram("job.duration", unit="ms", description="How long a job took.")
    while time.monotonic() < end:
        running.add(1)
        began = time.monotonic()
        time.sleep(random.expovariate(300))
        took.record((time.monotonic() - began) * 1000)
        running.add(-1)
        done.add(1, {"kind": random.choice(("mail", "print"))})
    provider.shutdown()


if __name__ == "__main__":
    main()
