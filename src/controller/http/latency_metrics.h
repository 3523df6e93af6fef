// The histograms of latency in the exposition of metrics. Pure; any thread.
#pragma once

#include "common/metrics_text.h"
#include "controller/model/latency.h"

namespace pingloom::controller::api {

void latencyMetrics(MetricsText& text, const LatencySnapshot& latency);

}  // namespace pingloom::controller::api
