"""Exports the metrics of OpenTelemetry's SDK as metric pages, so that a collector reads them without a push.

    from pingloom_pages_opentelemetry import PagesMetricExporter
    reader = PeriodicExportingMetricReader(PagesMetricExporter("queue"), export_interval_millis=1000)

Names become Prometheus' as OpenTelemetry's specification has it: other characters become underscores, units are
written out at the end (`s` is `_seconds`), and monotonic sums end with `_total`. Attributes become labels. Of the
resource's, those in OTEL_RESOURCE_ATTRIBUTES do, too; give what else is needed as `labels`. Histograms keep their bounds.
pingloom_pages_mirror says how values are kept. Exemplars that belong to a trace are kept with its ids. Exponential
histograms and deltas are left out and told in `errors`.
"""

import collections
import re

import pingloom_pages
import pingloom_pages_mirror
from opentelemetry.sdk.metrics.export import AggregationTemporality, Gauge, Histogram, MetricExporter, MetricExportResult, Sum

__all__ = ["PagesMetricExporter"]

_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "min": "minutes", "h": "hours",
          "d": "days", "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes", "%": "percent"}


def _identifier(text):
    text = re.sub("[^a-zA-Z0-9_]+", "_", text)
    return "_" + text if text[:1].isdigit() else text


def _name(metric):
    name = _identifier(metric.name)
    unit = _UNITS.get(metric.unit or "")
    if unit and not name.endswith("_" + unit):
        name += "_" + unit
    if isinstance(metric.data, Sum) and metric.data.is_monotonic and not name.endswith("_total"):
        name += "_total"
    return name


_Exemplar = collections.namedtuple("_Exemplar", ("labels", "value", "timestamp"))


def _exemplars(point):
    """Those of the point's exemplars that lead to a trace. Older SDKs have none."""
    found = []
    for each in getattr(point, "exemplars", None) or ():
        ids = {name: getattr(each, name, None) for name in ("trace_id", "span_id")}
        labels = {name: format(value, "032x" if name == "trace_id" else "016x") if isinstance(value, int) else str(value)
                  for name, value in ids.items() if value}
        if "trace_id" in labels:
            found.append(_Exemplar(labels, each.value, each.time_unix_nano / 1e9))
    return found


class PagesMetricExporter(MetricExporter):
    """The arguments are those of pingloom_pages.Pages."""

    def __init__(self, application=None, labels=None, socket=None):
        super().__init__()
        self._pages = pingloom_pages.Pages(application, labels, socket)
        self._mirror = pingloom_pages_mirror.Mirror(self._pages)

    @property
    def errors(self):
        """What could not be exported and why, by name; everything else is exported all the same."""
        return dict(self._mirror.errors)

    def export(self, metrics_data, timeout_millis=10_000, **kwargs):
        self._mirror.begin()
        for resource in metrics_data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    self._export(metric)
        self._mirror.end()
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis=10_000):
        return True  # what was exported is in the pages

    def shutdown(self, timeout_millis=30_000, **kwargs):
        self._pages.close()

    def _export(self, metric):
        data, name, help_text = metric.data, _name(metric), metric.description or ""
        if getattr(data, "aggregation_temporality", None) == AggregationTemporality.DELTA:
            self._mirror.errors[name] = "it is exported as deltas: let the reader prefer cumulative temporality"
            return
        if not isinstance(data, (Sum, Gauge, Histogram)):
            self._mirror.errors[name] = f"pages hold no {type(data).__name__}: give it explicit bounds by a view"
            return
        for point in data.data_points:
            labels = {_identifier(key): str(value) for key, value in (point.attributes or {}).items()}
            if isinstance(data, Histogram):
                self._mirror.histogram(name, help_text, labels, point.explicit_bounds, point.bucket_counts, point.sum,
                                       _exemplars(point))
            elif isinstance(data, Sum) and data.is_monotonic:
                latest = max(_exemplars(point), key=lambda each: each.timestamp, default=None)
                self._mirror.counter(name, help_text, labels, point.value, latest)
            else:
                self._mirror.gauge(name, help_text, labels, point.value)
