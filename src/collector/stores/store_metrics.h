// Exports stores as Prometheus metrics: what their writers say, how full the tables are, what was
// refused to translators, and the watched keys. Any thread.
#pragma once

#include "collector/stores/store_service.h"
#include "common/metrics_writer.h"
#include "common/time.h"

namespace pingloom::collector {

void storeMetrics(MetricsWriter& out, const StoreService& service, Nanos now_utc);

}  // namespace pingloom::collector
