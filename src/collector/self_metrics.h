// Exports the collector's own figures as Prometheus metrics: reading by agent, and the states of
// pages. Any thread.
#pragma once

#include <vector>

#include "collector/board.h"
#include "collector/exposition.h"
#include "common/metrics_writer.h"
#include "http/server.h"

namespace pingloom::collector {

// Its families are `pingloom_collector_...` and those of the process.
void selfMetrics(MetricsWriter& out, const std::vector<AgentView>& agents,
                 const ExpositionCounters& exposed, const http::ServerCounters& http, Nanos now);

}  // namespace pingloom::collector
