#include "collector/native_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collector/histogram_summary.h"

namespace pingloom::collector::native_buckets_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

MetricHistogram histogramOf(pingloom_histogram_shape shape, double unit,
                            const std::vector<std::uint64_t>& counts) {
  const pages::UnitScale scale(unit);
  const auto upper = [shape, scale](std::size_t bucket) {
    return scale(
        static_cast<double>(pingloom_histogram_upper(shape, static_cast<unsigned>(bucket))));
  };
  return {counts, upper, 0, nativeSchema(shape, unit)};
}

// The bounds of a native bucket.
double lowerOf(std::int64_t index, int schema) {
  return std::exp2(std::ldexp(static_cast<double>(index - 1), -schema));
}

TEST(NativeBuckets, BucketsThatDoubleAreTheSame) {
  // Buckets end at 4, 8 and 16, and the last one has no end.
  const std::vector<std::uint64_t> counts = {5, 6, 7, 8};
  const auto histogram = histogramOf({2, 4, 0}, 1, counts);
  EXPECT_EQ(histogram.native_schema, 0);
  const NativeBuckets native = nativeBuckets(histogram);
  EXPECT_EQ(native.zero_threshold, 4);
  EXPECT_EQ(native.zero_count, 5U);
  EXPECT_THAT(native.counts, ElementsAre(Pair(3, 6), Pair(4, 7), Pair(5, 8)));
  EXPECT_EQ(nativeSchema({2, 4, 0}, 0.25), 0);
  EXPECT_EQ(nativeSchema({2, 4, 0}, 1e-9), 1);
}

// Each bucket's values and its native bucket are within the widest bucket's ratio of each other, so
// that is the error of a quantile.
TEST(NativeBuckets, AreOffByNoMoreThanABucketIsWide) {
  for (const double unit : {1e-9, 1.0, 0.001, 7.0}) {
    for (std::uint8_t precision = 0; precision <= 5; ++precision) {
      const pingloom_histogram_shape shape{10, 34, precision};
      const std::size_t buckets = pingloom_histogram_buckets(shape);
      const double widest = 1 + std::ldexp(1.0, -precision) + 1e-9;
      for (std::size_t i = 1; i + 1 < buckets; ++i) {
        std::vector<std::uint64_t> counts(buckets);
        counts[i] = 3;
        const auto histogram = histogramOf(shape, unit, counts);
        const NativeBuckets native = nativeBuckets(histogram);
        ASSERT_THAT(native.counts, ElementsAre(Pair(testing::_, 3)));
        const double lower = lowerOf(native.counts[0].first, *histogram.native_schema);
        const double upper = lowerOf(native.counts[0].first + 1, *histogram.native_schema);
        EXPECT_LE(histogram.upper(i) / lower, widest) << i << " of precision " << int{precision};
        EXPECT_LE(upper / histogram.upper(i - 1), widest) << i;
      }
    }
  }
}

TEST(NativeBuckets, WhatIsAboveTheLastBoundIsAboveIt) {
  const std::vector<std::uint64_t> counts = {0, 0, 0, 0, 0, 9};
  const auto histogram = histogramOf({2, 4, 1}, 1e-9, counts);
  const NativeBuckets native = nativeBuckets(histogram);
  ASSERT_EQ(native.counts.size(), 1U);
  EXPECT_GE(lowerOf(native.counts[0].first, *histogram.native_schema), 16e-9 * (1 - 1e-12));
}

TEST(NativeBuckets, SumsSaturate) {
  // 7 and 8 are in the same native bucket where it is wider than they are.
  std::vector<std::uint64_t> counts(6, UINT64_MAX);
  MetricHistogram histogram = histogramOf({2, 4, 1}, 1, counts);
  histogram.native_schema = -1;
  for (const auto& [index, count] : nativeBuckets(histogram).counts) EXPECT_EQ(count, UINT64_MAX);
}

}  // namespace
}  // namespace pingloom::collector::native_buckets_test
