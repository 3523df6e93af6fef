// Writes the metrics about the agent's metric pages for /metrics. Any thread.
#pragma once

#include "common/metrics_text.h"
#include "pages/page_service.h"

namespace pingloom::agent {

void writePageFigures(MetricsText& out, const pages::PageFigures& figures);

}  // namespace pingloom::agent
