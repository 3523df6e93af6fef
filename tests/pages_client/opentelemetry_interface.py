"""What pingloom_pages_opentelemetry uses of OpenTelemetry's SDK, by its published interface (opentelemetry-python,
opentelemetry.sdk.metrics.export). Debian 12 has no package of the SDK. Where the SDK is installed, the tests use it."""

import abc
import dataclasses
import enum
import sys
import types
import typing


class AggregationTemporality(enum.IntEnum):
    UNSPECIFIED = 0
    DELTA = 1
    CUMULATIVE = 2


class MetricExportResult(enum.Enum):
    SUCCESS = 0
    FAILURE = 1


class MetricExporter(abc.ABC):
    def __init__(self, preferred_temporality=None, preferred_aggregation=None):
        self._preferred_temporality = preferred_temporality
        self._preferred_aggregation = preferred_aggregation

    @abc.abstractmethod
    def export(self, metrics_data, timeout_millis=10_000, **kwargs):
        ...

    @abc.abstractmethod
    def force_flush(self, timeout_millis=10_000):
        ...

    @abc.abstractmethod
    def shutdown(self, timeout_millis=30_000, **kwargs):
        ...


def _record(name, *fields):
    return dataclasses.make_dataclass(name, [(field, typing.Any) for field in fields], frozen=True)


_TIMES = ("attributes", "start_time_unix_nano", "time_unix_nano")
Exemplar = _record("Exemplar", "filtered_attributes", "value", "time_unix_nano", "span_id", "trace_id")


@dataclasses.dataclass(frozen=True)
class NumberDataPoint(_record("_NumberDataPoint", *_TIMES, "value")):
    exemplars: typing.Any = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class HistogramDataPoint(_record("_HistogramDataPoint", *_TIMES, "count", "sum", "bucket_counts", "explicit_bounds", "min", "max")):
    exemplars: typing.Any = dataclasses.field(default_factory=list)


Sum = _record("Sum", "data_points", "aggregation_temporality", "is_monotonic")
Gauge = _record("Gauge", "data_points")
Histogram = _record("Histogram", "data_points", "aggregation_temporality")
ExponentialHistogram = _record("ExponentialHistogram", "data_points", "aggregation_temporality")
Metric = _record("Metric", "name", "description", "unit", "data")
ScopeMetrics = _record("ScopeMetrics", "scope", "metrics", "schema_url")
ResourceMetrics = _record("ResourceMetrics", "resource", "scope_metrics", "schema_url")
MetricsData = _record("MetricsData", "resource_metrics")


def install():
    """Makes `import opentelemetry.sdk.metrics.export` succeed. Returns that module: the SDK's where it is installed."""
    try:
        import opentelemetry.sdk.metrics.export as export
    except ModuleNotFoundError:
        path = []
        for part in ("opentelemetry", "sdk", "metrics", "export"):
            path.append(part)
            sys.modules[".".join(path)] = types.ModuleType(".".join(path))
        export = sys.modules["opentelemetry.sdk.metrics.export"]
        for name, value in globals().items():
            if name[0].isupper():
                setattr(export, name, value)
    return export
