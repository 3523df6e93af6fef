#include "collector/histogram_summary.h"

#include <vector>

namespace pingloom::collector {
double quantile(const pages::Metric& metric, std::span<const double> buckets, double share) {
  double total = 0;
  for (const double count : buckets) total += count;
  const double rank = share * total;
  const pages::UnitScale scale(metric.unit);
  double below = 0;
  double lower = 0;
  for (std::size_t bucket = 0; bucket + 1 < buckets.size(); ++bucket) {
    const double here = buckets[bucket];
    const double upper = upperBound(metric, scale, bucket);
    if (here > 0 && below + here >= rank) {
      // As in Prometheus, a first bucket of values below 0 is not interpolated.
      if (bucket == 0 && upper <= 0) return upper;
      return lower + (upper - lower) * (rank - below) / here;
    }
    below += here;
    lower = upper;
  }
  return lower;
}

HistogramSummary summarize(const pages::Metric& metric, std::span<const std::uint64_t> slots) {
  HistogramSummary summary;
  for (const std::uint64_t count : slots.subspan(1)) summary.count += count;
  summary.sum = pages::UnitScale(metric.unit)(static_cast<double>(slots[0]));
  if (summary.count == 0) return summary;
  const std::vector<double> buckets(slots.begin() + 1, slots.end());
  summary.p50 = quantile(metric, buckets, 0.50);
  summary.p99 = quantile(metric, buckets, 0.99);
  return summary;
}

}  // namespace pingloom::collector
