// The collector's own figures as Prometheus metrics: how reading goes, by agent, and the states of
// pages. Any thread.
#pragma once

#include <string>
#include <vector>

#include "collector/board.h"
#include "collector/exposition.h"
#include "http/server.h"

namespace pingloom::collector {

// In either format; families of its own, `pingloom_collector_...`.
std::string selfMetrics(const std::vector<AgentView>& agents, const ExpositionCounters& exposed,
                        const http::ServerCounters& http, Format format, Nanos now);

}  // namespace pingloom::collector
