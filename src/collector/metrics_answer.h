// All that /metrics shows, in any format. Any thread.
#pragma once

#include <string>

#include "collector/board.h"
#include "collector/exposition.h"
#include "collector/stores/store_service.h"
#include "http/server.h"

namespace pingloom::collector {

class PushService;
class Watcher;

// What is shown. Pointers may be null.
struct MetricsSources {
  const Board& board;
  Watcher* watcher = nullptr;
  const http::ServerCounters& http;
  const StoreService* stores = nullptr;
  const PushService* push = nullptr;
  bool exact_histograms = false;  // classic ones show all bounds
};

// Returns the metrics of pages and of the collector itself. OpenMetrics' end mark is missing.
std::string allMetrics(const MetricsSources& from, const Exposition::MakeWriter& make_writer);

// Returns the metrics of pages only, where applications that behave as usual are exported only from
// time to time. A call counts as one of these times. REQUIRES: there is a watcher.
std::string adaptiveMetrics(const MetricsSources& from, const Exposition::MakeWriter& make_writer);

}  // namespace pingloom::collector
