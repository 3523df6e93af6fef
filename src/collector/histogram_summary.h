// Summarizes a page's histogram in a few numbers. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pages/schema.h"

namespace pingloom::collector {

struct HistogramSummary {
  std::uint64_t count = 0;
  double sum = 0;             // in the metric's unit, like the quantiles
  std::optional<double> p50;  // nullopt if nothing was counted
  std::optional<double> p99;
};

// Returns a quantile of the values that the buckets count, in the metric's unit. It is interpolated
// in its bucket as if the values were spread evenly; the first bucket begins at 0. In the last
// bucket, which has no upper bound, the quantile is the lower bound. REQUIRES: the metric's number
// of buckets, and readMetric() returned the histogram.
double quantile(const pages::Metric& metric, std::span<const double> buckets, double share);

// REQUIRES: slots.size() == metric.slots, and readMetric() returned the histogram.
HistogramSummary summarize(const pages::Metric& metric, std::span<const std::uint64_t> slots);

}  // namespace pingloom::collector
