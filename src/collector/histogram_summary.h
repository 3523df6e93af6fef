// A histogram of a page in a few numbers, for people. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pages/schema.h"

namespace pingloom::collector {

struct HistogramSummary {
  std::uint64_t count = 0;
  double sum = 0;             // in the metric's unit, as the quantiles
  std::optional<double> p50;  // nullopt where nothing was counted
  std::optional<double> p99;
};

// A quantile lies in a bucket; within it values are taken to be spread evenly, from 0 in the first.
// In the last one, which has no end, it is said to lie where the bucket begins.
// REQUIRES slots.size() == metric.slots, of a histogram that readMetric() gave.
HistogramSummary summarize(const pages::Metric& metric, std::span<const std::uint64_t> slots);

}  // namespace pingloom::collector
