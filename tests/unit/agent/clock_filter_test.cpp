#include "agent/clock_filter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace pingloom::agent::clock_filter_test {
namespace {

constexpr Nanos kTrueOffset = 1'700'000'000 * kSecond;

// A heartbeat whose two ways take `there` and `back`.
void exchange(ClockFilter& filter, Nanos sent, Nanos there, Nanos back, Nanos offset) {
  filter.add(sent, sent + there + offset, sent + there + back);
}

TEST(ClockFilter, KnowsNothingBeforeTheFirstReply) {
  const ClockFilter filter;
  EXPECT_FALSE(filter.offset());
  EXPECT_FALSE(filter.roundTrip());
}

TEST(ClockFilter, ASymmetricReplyGivesTheOffsetExactly) {
  ClockFilter filter;
  exchange(filter, 5 * kSecond, kMillisecond, kMillisecond, kTrueOffset);
  EXPECT_EQ(filter.offset(), kTrueOffset);
  EXPECT_EQ(filter.roundTrip(), 2 * kMillisecond);
}

TEST(ClockFilter, TheShortestRoundTripCounts) {
  ClockFilter filter;
  exchange(filter, kSecond, 9 * kMillisecond, kMillisecond, kTrueOffset);
  exchange(filter, 2 * kSecond, 100 * kMicrosecond, 100 * kMicrosecond, kTrueOffset);
  exchange(filter, 3 * kSecond, kMillisecond, 30 * kMillisecond, kTrueOffset);
  EXPECT_EQ(filter.offset(), kTrueOffset);
  EXPECT_EQ(filter.roundTrip(), 200 * kMicrosecond);
}

TEST(ClockFilter, ErrorStaysWithinHalfTheBestRoundTripUnderJitter) {
  ClockFilter filter;
  std::mt19937_64 random(7);
  std::exponential_distribution<double> queueing(1.0 / 2e6);
  Nanos now = kSecond;
  for (int i = 0; i < 500; ++i, now += kSecond) {
    const auto there = 50'000 + static_cast<Nanos>(queueing(random));
    const auto back = 50'000 + static_cast<Nanos>(queueing(random));
    exchange(filter, now, there, back, kTrueOffset);
    EXPECT_LE(std::abs(*filter.offset() - kTrueOffset), *filter.roundTrip() / 2 + 1) << i;
  }
}

TEST(ClockFilter, AGoodSampleIsForgottenAfterSixteenMore) {
  ClockFilter filter;
  exchange(filter, kSecond, kMicrosecond, kMicrosecond, kTrueOffset);
  for (std::size_t i = 1; i < ClockFilter::kSamples; ++i) {
    exchange(filter, static_cast<Nanos>(i + 1) * kSecond, kMillisecond, kMillisecond, kTrueOffset);
    EXPECT_EQ(filter.roundTrip(), 2 * kMicrosecond);
  }
  exchange(filter, 20 * kSecond, kMillisecond, kMillisecond, kTrueOffset);
  EXPECT_EQ(filter.roundTrip(), 2 * kMillisecond);
}

TEST(ClockFilter, ASteppedControllerClockIsFollowedAtOnce) {
  ClockFilter filter;
  for (int i = 1; i <= 16; ++i) {
    exchange(filter, i * kSecond, 10 * kMicrosecond, 10 * kMicrosecond, kTrueOffset);
  }
  const Nanos stepped = kTrueOffset - 3 * kSecond;
  exchange(filter, 17 * kSecond, kMillisecond, kMillisecond, stepped);
  EXPECT_EQ(filter.offset(), stepped);
  exchange(filter, 18 * kSecond, 2 * kMillisecond, 2 * kMillisecond, stepped);
  EXPECT_EQ(filter.offset(), stepped) << "the samples before the step are gone";
}

}  // namespace
}  // namespace pingloom::agent::clock_filter_test
