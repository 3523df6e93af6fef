"""What examples/pages/opentelemetry_queue.py uses of OpenTelemetry's SDK besides the exporter's interface, by its published
interface: a provider whose reader exports what its instruments have counted."""

import bisect
import threading
import time

import opentelemetry_interface as interface

BOUNDS = (0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000)  # the SDK's own
CUMULATIVE = interface.AggregationTemporality.CUMULATIVE


class Instrument:
    def __init__(self, name, unit, description):
        self.name, self.unit, self.description = name, unit, description
        self.lock = threading.Lock()
        self.points = {}  # by attributes

    def metric(self):
        with self.lock:
            return interface.Metric(self.name, self.description, self.unit, self.data())


class Counter(Instrument):
    def __init__(self, is_monotonic, *arguments):
        super().__init__(*arguments)
        self.is_monotonic = is_monotonic

    def add(self, amount, attributes=None, context=None):
        key = tuple((attributes or {}).items())
        with self.lock:
            self.points[key] = self.points.get(key, 0) + amount

    def data(self):
        points = [interface.NumberDataPoint(dict(key), 0, time.time_ns(), value) for key, value in self.points.items()]
        return interface.Sum(points, CUMULATIVE, self.is_monotonic)


class Histogram(Instrument):
    def record(self, amount, attributes=None, context=None):
        with self.lock:
            self.points.setdefault(tuple((attributes or {}).items()), []).append(amount)

    def data(self):
        points = []
        for key, values in self.points.items():
            counts = [0] * (len(BOUNDS) + 1)
            for value in values:
                counts[bisect.bisect_left(BOUNDS, value)] += 1
            points.append(interface.HistogramDataPoint(dict(key), 0, time.time_ns(), len(values), sum(values), counts,
                                                       BOUNDS, min(values), max(values)))
        return interface.Histogram(points, CUMULATIVE)


class Meter:
    def __init__(self):
        self.instruments = []

    def keep(self, instrument):
        self.instruments.append(instrument)
        return instrument

    def create_counter(self, name, unit="", description=""):
        return self.keep(Counter(True, name, unit, description))

    def create_up_down_counter(self, name, unit="", description=""):
        return self.keep(Counter(False, name, unit, description))

    def create_histogram(self, name, unit="", description="", *, explicit_bucket_boundaries_advisory=None):
        return self.keep(Histogram(name, unit, description))


class PeriodicExportingMetricReader:
    def __init__(self, exporter, export_interval_millis=None, export_timeout_millis=None):
        self.exporter, self.period = exporter, (export_interval_millis or 60_000) / 1000
        self.meters, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended.wait(self.period):
            self.collect()

    def collect(self):
        scopes = [interface.ScopeMetrics(None, [each.metric() for each in meter.instruments], "") for meter in self.meters]
        self.exporter.export(interface.MetricsData([interface.ResourceMetrics(None, scopes, "")]), timeout_millis=30_000)

    def shutdown(self, timeout_millis=30_000, **kwargs):
        self.ended.set()
        self.thread.join()
        self.collect()
        self.exporter.shutdown(timeout_millis=timeout_millis)


class MeterProvider:
    def __init__(self, metric_readers=(), resource=None, shutdown_on_exit=True, views=()):
        self.readers = metric_readers

    def get_meter(self, name, version=None, schema_url=None, attributes=None):
        meter = Meter()
        for reader in self.readers:
            reader.meters.append(meter)
        return meter

    def shutdown(self, timeout_millis=30_000):
        for reader in self.readers:
            reader.shutdown(timeout_millis)


def install(metrics, export):
    """Adds them to the modules opentelemetry.sdk.metrics and opentelemetry.sdk.metrics.export, which lack them."""
    metrics.MeterProvider = MeterProvider
    export.PeriodicExportingMetricReader = PeriodicExportingMetricReader
