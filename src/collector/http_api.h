// Answers HTTP requests: /metrics, /healthz and /api/v1/pages, and if pages are watched
// /metrics/adaptive, /api/v1/events and /api/v1/sampling. Answers come from the board and never
// read an agent. See docs/collector.md. Any thread.
#pragma once

#include "collector/metrics_answer.h"
#include "http/message.h"

namespace pingloom::collector {

http::Response answer(const MetricsSources& from, const http::Request& request);

}  // namespace pingloom::collector
