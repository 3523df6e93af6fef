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
  for (unsigned bucket = 0; bucket + 1 < buckets.size(); ++bucket) {
    const auto here = static_cast<double>(buckets[bucket]);
    const auto upper = static_cast<double>(pingloom_histogram_upper(metric.shape, bucket));
    if (here > 0 && below + here >= rank) {
      return scale.of(lower + (upper - lower) * (rank - below) / here);
    }
    below += here;
    lower = upper;
  }
  return scale.of(lower);
}

}  // namespace

HistogramSummary summarize(const pages::Metric& metric, std::span<const std::uint64_t> slots) {
  HistogramSummary summary;
  const auto buckets = slots.subspan(1);
  for (const std::uint64_t count : buckets) summary.count += count;
  summary.sum = pages::UnitScale(metric.unit).of(static_cast<double>(slots[0]));
  if (summary.count == 0) return summary;
  summary.p50 = quantile(metric, buckets, 0.50);
  summary.p99 = quantile(metric, buckets, 0.99);
  return summary;
}

}  // namespace pingloom::collector
