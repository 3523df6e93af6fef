#include "collector/watch/watch_metrics.h"

#include <string>

namespace pingloom::collector {
namespace {

LabelText ownerLabels(const WatchedOwner& owner) {
  LabelText labels;
  labels.add("host", owner.host);
  labels.add("application", owner.application);
  labels.add("pid", std::to_string(owner.pid));
  if (owner.owner != 0) labels.add("owner", std::to_string(owner.owner));
  return labels;
}

}  // namespace

void watchMetrics(MetricsText& out, const WatchFigures& figures) {
  out.family("pingloom_collector_anomalous", "gauge",
             "1: the application is over a limit, or its metrics do not go together as usual.");
  for (const WatchedOwner& owner : figures.owners) {
    out.sample(owner.anomalous ? 1 : 0, ownerLabels(owner));
  }
  out.family("pingloom_collector_anomaly_score", "gauge",
             "Above 1: out of the usual. Absent while what is usual is being learned.");
  for (const WatchedOwner& owner : figures.owners) {
    if (owner.judged) out.sample(owner.score, ownerLabels(owner));
  }
  out.gauge("pingloom_collector_unwatched_applications",
            "Applications without metrics yet, or too many to be watched.", figures.unwatched);
  out.counter("pingloom_collector_limits_exceeded_total",
              "Times that a metric went over its limit.", figures.limits);
  out.counter("pingloom_collector_anomalies_total", "Times that an application left the usual.",
              figures.anomalies);
  out.counter("pingloom_collector_adaptive_exported_total", "Values shown at /metrics/adaptive.",
              figures.exported);
  out.counter("pingloom_collector_adaptive_suppressed_total",
              "Values left out there, because all was as usual.", figures.suppressed);
}

}  // namespace pingloom::collector
