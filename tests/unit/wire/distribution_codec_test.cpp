#include "wire/distribution_codec.h"

#include <gtest/gtest.h>

#include <random>

namespace pingloom::wire::distribution_codec_test {
namespace {

TEST(DistributionCodec, RoundTripsSamplesAndBuckets) {
  std::mt19937_64 random(3);
  for (const int count : {0, 1, 10, 64, 65, 1000}) {
    Distribution before;
    for (int i = 0; i < count; ++i) before.add(random() % 50'000'000);
    SampleSet set;
    encode(before, set);
    const auto after = decode(viewOf(set));
    ASSERT_TRUE(after) << count;
    EXPECT_EQ(after->count(), before.count());
    EXPECT_EQ(after->sum(), before.sum());
    EXPECT_EQ(after->summary().p50, before.summary().p50);
    EXPECT_EQ(after->summary().p99, before.summary().p99);
    EXPECT_EQ(after->min(), before.min());
    EXPECT_EQ(after->max(), before.max());
    const auto summary = decodeSummary(viewOf(set));
    ASSERT_TRUE(summary) << count;
    EXPECT_EQ(summary->count, before.count());
    EXPECT_EQ(summary->mean, before.summary().mean);
    EXPECT_EQ(summary->p50, before.summary().p50);
    EXPECT_EQ(summary->p95, before.summary().p95);
    EXPECT_EQ(summary->p99, before.summary().p99);
    EXPECT_EQ(summary->min, before.min());
    EXPECT_EQ(summary->max, before.max());
  }
}

TEST(DistributionCodec, TenSamplesAreSmall) {
  Distribution ten;
  for (std::uint64_t i = 0; i < 10; ++i) ten.add(5'000 + i * 100);
  SampleSet set;
  encode(ten, set);
  EXPECT_LE(set.ByteSizeLong(), 24U);
}

TEST(DistributionCodec, RefusesHostileSets) {
  SampleSet many;
  for (int i = 0; i < 65; ++i) many.add_sample_deltas(1);
  EXPECT_FALSE(decode(viewOf(many)));
  EXPECT_FALSE(decodeSummary(viewOf(many)));
  SampleSet overflow;
  overflow.add_sample_deltas(~0U);
  overflow.add_sample_deltas(1);
  EXPECT_FALSE(decode(viewOf(overflow)));
  EXPECT_FALSE(decodeSummary(viewOf(overflow)));
  SampleSet uneven;
  uneven.add_bucket_deltas(3);
  EXPECT_FALSE(decode(viewOf(uneven)));
  const auto bucketSet = [](std::initializer_list<std::uint32_t> deltas, std::uint32_t times) {
    SampleSet set;
    for (const std::uint32_t delta : deltas) {
      set.add_bucket_deltas(delta);
      set.add_bucket_counts(times);
    }
    set.set_min(1);
    set.set_max(1'000'000);
    set.set_sum(500);
    return set;
  };
  EXPECT_TRUE(decode(viewOf(bucketSet({3, 4}, 1))));
  EXPECT_FALSE(decode(viewOf(bucketSet({3, 0}, 1)))) << "the same bucket twice";
  EXPECT_FALSE(decode(viewOf(bucketSet({3, 4}, 0)))) << "an empty bucket";
  EXPECT_FALSE(decode(viewOf(bucketSet({1152}, 1)))) << "past the last bucket";
  EXPECT_FALSE(decode(viewOf(bucketSet({3, ~0U}, 1))));
  EXPECT_FALSE(decode(viewOf(bucketSet({3, 4}, ~0U)))) << "more samples than a row can count";
  auto contradiction = bucketSet({3, 4}, 1);
  contradiction.set_min(2'000'000);
  EXPECT_FALSE(decode(viewOf(contradiction)));
}

}  // namespace
}  // namespace pingloom::wire::distribution_codec_test
