#include "collector/watch/watch_metrics.h"

#include <fmt/format.h>

#include "collector/metric_lines.h"

namespace pingloom::collector {
namespace {

std::string ownerLabels(const WatchedOwner& owner) {
  return fmt::format("host={},application={},pid=\"{}\"{}", quotedLabel(owner.host),
                     quotedLabel(owner.application), owner.pid,
                     owner.owner == 0 ? "" : fmt::format(",owner=\"{}\"", owner.owner));
}

}  // namespace

std::string watchMetrics(const WatchFigures& figures, Format format) {
  std::string out;
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    writeFamily(out, name, "counter", help, format);
    out += fmt::format("{} {}\n", name, value);
  };
  writeFamily(out, "pingloom_collector_anomalous", "gauge",
              "1: the application is over a limit, or its metrics do not go together as usual.",
              format);
  for (const WatchedOwner& owner : figures.owners) {
    out += fmt::format("pingloom_collector_anomalous{{{}}} {}\n", ownerLabels(owner),
                       owner.anomalous ? 1 : 0);
  }
  writeFamily(out, "pingloom_collector_anomaly_score", "gauge",
              "Above 1: out of the usual. Absent while what is usual is being learned.", format);
  for (const WatchedOwner& owner : figures.owners) {
    if (!owner.judged) continue;
    out +=
        fmt::format("pingloom_collector_anomaly_score{{{}}} {}\n", ownerLabels(owner), owner.score);
  }
  writeFamily(out, "pingloom_collector_unwatched_applications", "gauge",
              "Applications without metrics yet, or too many to be watched.", format);
  out += fmt::format("pingloom_collector_unwatched_applications {}\n", figures.unwatched);
  counter("pingloom_collector_limits_exceeded_total", "Times that a metric went over its limit.",
          figures.limits);
  counter("pingloom_collector_anomalies_total", "Times that an application left the usual.",
          figures.anomalies);
  counter("pingloom_collector_adaptive_exported_total", "Values shown at /metrics/adaptive.",
          figures.exported);
  counter("pingloom_collector_adaptive_suppressed_total",
          "Values left out there, because all was as usual.", figures.suppressed);
  return out;
}

}  // namespace pingloom::collector
