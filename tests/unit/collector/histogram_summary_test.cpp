#include "collector/histogram_summary.h"

#include <gtest/gtest.h>

#include <vector>

namespace pingloom::collector::histogram_summary_test {
namespace {

// Buckets up to 1024, 1536, 2048, 3072, 4096 and without an end, in a unit of 0.001.
pages::Metric metric() {
  pages::Metric metric;
  metric.kind = PINGLOOM_HISTOGRAM;
  metric.shape = {10, 12, 1};
  metric.slots = static_cast<std::uint16_t>(pingloom_histogram_slots(metric.shape));
  metric.unit = 0.001;
  return metric;
}

HistogramSummary of(const std::vector<std::uint64_t>& slots) { return summarize(metric(), slots); }

TEST(HistogramSummary, nothingCounted) {
  ASSERT_EQ(metric().slots, 7);
  const auto summary = of({0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.p50, std::nullopt);
  EXPECT_EQ(summary.p99, std::nullopt);
}

TEST(HistogramSummary, quantilesLieWithinTheirBucket) {
  const auto summary = of({40'000, 0, 100, 0, 0, 0, 0});
  EXPECT_EQ(summary.count, 100U);
  EXPECT_DOUBLE_EQ(summary.sum, 40);
  EXPECT_DOUBLE_EQ(*summary.p50, 1.280);
  EXPECT_DOUBLE_EQ(*summary.p99, 1.53088);
}

TEST(HistogramSummary, acrossBuckets) {
  const auto summary = of({0, 90, 0, 0, 0, 10, 0});
  EXPECT_DOUBLE_EQ(*summary.p50, 1.024 * 50 / 90);
  EXPECT_DOUBLE_EQ(*summary.p99, 3.072 + 1.024 * 9 / 10);
}

TEST(HistogramSummary, theLastBucketHasNoEnd) {
  EXPECT_DOUBLE_EQ(*of({0, 0, 0, 0, 0, 0, 5}).p50, 4.096);
}

TEST(HistogramSummary, wildCountsGiveNumbers) {
  const auto summary = of({~0ULL, ~0ULL, ~0ULL, 5, 0, 0, ~0ULL});
  EXPECT_GT(*summary.p99, 0);
  EXPECT_LE(*summary.p99, 4.096);
}

}  // namespace
}  // namespace pingloom::collector::histogram_summary_test
