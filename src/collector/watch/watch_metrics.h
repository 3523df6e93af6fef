// Exports verdicts on pages as Prometheus metrics. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/watch/watch_event.h"
#include "common/metrics_writer.h"
#include "common/time.h"

namespace pingloom::collector {

struct WatchedOwner : WatchState {
  std::string host, application;
  std::uint32_t pid = 0;
  std::uint64_t owner = 0;  // 0 if its series do not have this label
};

struct WatchFigures {
  std::vector<WatchedOwner> owners;
  std::uint64_t unwatched = 0;
  std::uint64_t limits = 0, anomalies = 0;     // violations and anomalies that began
  std::uint64_t exported = 0, suppressed = 0;  // values of /metrics/adaptive
  bool keeps = false;                          // whether what is learned is saved
  Nanos saved_utc = 0;                         // when it was saved last; 0: not yet
  std::uint64_t saves_failed = 0;
};

void watchMetrics(MetricsWriter& out, const WatchFigures& figures);

}  // namespace pingloom::collector
