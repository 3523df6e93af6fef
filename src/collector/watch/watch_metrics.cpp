#include "collector/watch/watch_metrics.h"

#include <set>
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

LabelText deviationLabels(const WatchedOwner& owner, const Deviation& deviation) {
  LabelText labels = ownerLabels(owner);
  labels.add("metric", deviation.metric);
  if (!deviation.part.empty()) labels.add("part", deviation.part);
  labels.add("statistic", deviation.statistic);
  return labels;
}

}  // namespace

void watchMetrics(MetricsWriter& out, const WatchFigures& figures) {
  out.family("pingloom_collector_anomalous", "gauge",
             "1: the application is over a limit, or its metrics do not go together as usual.");
  for (const WatchedOwner& owner : figures.owners) {
    out.sample(owner.anomalous ? 1 : 0, ownerLabels(owner));
  }
  out.family("pingloom_collector_anomaly_score", "gauge",
             "Deviation from the usual; unusual above 1. Absent while the usual is being learned.");
  for (const WatchedOwner& owner : figures.owners) {
    if (owner.judged) out.sample(owner.score, ownerLabels(owner));
  }
  out.family(
      "pingloom_collector_anomaly_metric_score", "gauge",
      "How unusual a metric is in which statistic; unusual above 1, negative if it is too low.");
  for (const WatchedOwner& owner : figures.owners) {
    std::set<std::string> shown;  // an application that is watched in groups may repeat one
    for (const Deviation& deviation : owner.deviations) {
      const LabelText labels = deviationLabels(owner, deviation);
      if (shown.insert(labels.text()).second) out.sample(deviation.score, labels);
    }
  }
  out.gauge("pingloom_collector_unwatched_applications",
            "Applications that are not watched, because they have no metrics or are too many.",
            figures.unwatched);
  out.counter("pingloom_collector_limits_exceeded_total", "Times that a metric exceeded its limit.",
              figures.limits);
  out.counter("pingloom_collector_anomalies_total",
              "Times that an application began to deviate from the usual.", figures.anomalies);
  out.counter("pingloom_collector_adaptive_exported_total", "Values shown at /metrics/adaptive.",
              figures.exported);
  out.counter("pingloom_collector_adaptive_suppressed_total",
              "Values left out of /metrics/adaptive because nothing was unusual.",
              figures.suppressed);
  if (!figures.keeps) return;
  out.gauge("pingloom_collector_analytics_saved_timestamp_seconds",
            "When what analytics have learned was saved last; 0 before the first time.",
            static_cast<double>(figures.saved_utc) / kSecond);
  out.counter("pingloom_collector_analytics_saves_failed_total",
              "Times that what analytics have learned could not be saved.", figures.saves_failed);
}

}  // namespace pingloom::collector
