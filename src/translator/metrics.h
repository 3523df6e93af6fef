// The translator's metrics and what else it serves by HTTP. Pure functions; any thread.
#pragma once

#include "common/metrics_text.h"
#include "http/message.h"
#include "http/server.h"
#include "translator/counters.h"
#include "translator/reporter_losses.h"

namespace pingloom::translator {

// Writes the metrics for whoever has a translator's thread.
void writeMetrics(MetricsText& out, const Counters& counters, const ReporterLosses& losses);
http::Response answer(const Counters& counters, const ReporterLosses& losses,
                      const http::Request& request);

}  // namespace pingloom::translator
