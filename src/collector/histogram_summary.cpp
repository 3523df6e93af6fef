#include "collector/histogram_summary.h"

namespace pingloom::collector {
namespace {

double quantile(const pages::Metric& metric, std::span<const std::uint64_t> buckets, double share) {
  double total = 0;
  for (const std::uint64_t count : buckets) total += static_cast<double>(count);
  const double rank = share * total;
  const pages::UnitScale scale(metric.unit);
  double below = 0;
  double lower = 0;
  for (std::size_t bucket = 0; bucket + 1 < buckets.size(); ++bucket) {
    const auto here = static_cast<double>(buckets[bucket]);
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

}  // namespace

HistogramSummary summarize(const pages::Metric& metric, std::span<const std::uint64_t> slots) {
  HistogramSummary summary;
  const auto buckets = slots.subspan(1);
  for (const std::uint64_t count : buckets) summary.count += count;
  summary.sum = pages::UnitScale(metric.unit)(static_cast<double>(slots[0]));
  if (summary.count == 0) return summary;
  summary.p50 = quantile(metric, buckets, 0.50);
  summary.p99 = quantile(metric, buckets, 0.99);
  return summary;
}

}  // namespace pingloom::collector
