// Takes a page's summary from its slots. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/metrics_writer.h"
#include "pages/schema.h"

namespace pingloom::collector {

// While the count is 0 every quantile is NaN, because nothing tells a slot that was never set from
// a value of 0. REQUIRES: slots.size() == metric.slots, and readMetric() returned the summary.
MetricSummary summaryOf(const pages::Metric& metric, std::span<const std::uint64_t> slots);

// Returns the value of a quantile; nullopt if the summary does not have it, or its value is not
// finite.
std::optional<double> valueAt(const MetricSummary& summary, double rank);

}  // namespace pingloom::collector
