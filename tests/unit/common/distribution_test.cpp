#include "common/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/histogram.h"

namespace pingloom::distribution_test {
namespace {

std::uint64_t exactPercentile(std::vector<std::uint64_t> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::max<std::size_t>(1, (values.size() * percent + 99) / 100) - 1];
}

TEST(Histogram, BucketsAreNarrowAndInOrder) {
  std::uint32_t last = 0;
  for (std::uint64_t value = 0; value < 5'000'000; value += 1 + value / 97) {
    const std::uint32_t bucket = histogram::bucketOf(value);
    ASSERT_GE(bucket, last);
    last = bucket;
    const auto middle = static_cast<double>(histogram::bucketMiddle(bucket));
    ASSERT_NEAR(middle, static_cast<double>(value), 0.016 * static_cast<double>(value) + 0.5)
        << value;
  }
  EXPECT_EQ(histogram::bucketOf(~0ULL), histogram::kBuckets - 1);
}

TEST(Distribution, IsExactWhileSmall) {
  Distribution ten;
  for (std::uint64_t value : {50, 10, 90, 30, 70, 20, 100, 40, 80, 60}) ten.add(value);
  const Summary summary = ten.summary();
  EXPECT_EQ(summary.count, 10U);
  EXPECT_EQ(summary.min, 10U);
  EXPECT_EQ(summary.mean, 55U);
  EXPECT_EQ(summary.p50, 50U);
  EXPECT_EQ(summary.p95, 100U);
  EXPECT_EQ(summary.max, 100U);
  EXPECT_TRUE(ten.exact());
}

TEST(Distribution, EmptyHasNoSamples) { EXPECT_EQ(Distribution().summary().count, 0U); }

TEST(Distribution, BucketsStayNearExactPercentiles) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> shape(9.0, 1.0);
  Distribution sketch;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(shape(random)));
    sketch.add(values.back());
  }
  EXPECT_FALSE(sketch.exact());
  const Summary summary = sketch.summary();
  for (auto [percent, shown] : {std::pair{50, summary.p50}, {95, summary.p95}, {99, summary.p99}}) {
    const auto exact =
        static_cast<double>(exactPercentile(values, static_cast<std::size_t>(percent)));
    EXPECT_NEAR(static_cast<double>(shown), exact, 0.033 * exact) << percent;
  }
  EXPECT_EQ(summary.min, *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(summary.max, *std::max_element(values.begin(), values.end()));
}

TEST(Distribution, MergeEqualsAddingEverything) {
  std::mt19937_64 random(2);
  for (const int each : {3, 40, 500}) {
    Distribution all;
    Distribution merged;
    for (int part = 0; part < 5; ++part) {
      Distribution one;
      for (int i = 0; i < each; ++i) {
        const std::uint64_t value = random() % 1'000'000;
        all.add(value);
        one.add(value);
      }
      merged.merge(one);
    }
    EXPECT_EQ(merged.summary().p50, all.summary().p50);
    EXPECT_EQ(merged.summary().p99, all.summary().p99);
    EXPECT_EQ(merged.sum(), all.sum());
    EXPECT_EQ(merged.count(), all.count());
    EXPECT_EQ(merged.min(), all.min());
  }
}

TEST(Distribution, AddsAscendingSamplesLikeOneByOne) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    Distribution together;
    Distribution one_by_one;
    for (std::uint64_t times = random() % 6; times > 0; --times) {
      std::vector<std::uint64_t> values(random() % 40);
      // Some are too long to be kept exactly.
      const unsigned shift = random() % 10 == 0 ? 30 : 32;
      for (std::uint64_t& value : values) value = random() >> shift;
      std::sort(values.begin(), values.end());
      together.addAscending(values);
      for (const std::uint64_t value : values) one_by_one.add(value);
    }
    ASSERT_EQ(together.count(), one_by_one.count());
    EXPECT_EQ(together.sum(), one_by_one.sum());
    EXPECT_EQ(together.min(), one_by_one.min());
    EXPECT_EQ(together.max(), one_by_one.max());
    EXPECT_EQ(together.samples(), one_by_one.samples());
    EXPECT_EQ(together.buckets(), one_by_one.buckets());
  }
}

TEST(Distribution, LongSamplesDoNotWrap) {
  Distribution one;
  one.add(10'000'000'000);
  EXPECT_EQ(one.summary().max, 10'000'000'000U);
  EXPECT_EQ(one.summary().p50, 10'000'000'000U);
}

}  // namespace
}  // namespace pingloom::distribution_test
