#include "collector/analytics/rate_tracker.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace {

using namespace pingloom;
using namespace pingloom::collector::analytics;

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

struct RateTrackerTest : testing::Test {
  RateTracker tracker{{SlotKind::kCounter, SlotKind::kGauge}};
  std::array<double, 2> sample{};

  void update(Nanos mono, std::uint64_t counter, double gauge) {
    tracker.update(mono, std::array{counter, bits(gauge)}, sample);
  }
};

TEST_F(RateTrackerTest, CounterBecomesARatePerSecond) {
  update(kSecond, 1000, 2.5);
  EXPECT_TRUE(std::isnan(sample[0]));
  EXPECT_EQ(sample[1], 2.5);
  update(kSecond + 500 * kMillisecond, 1100, -3);
  EXPECT_DOUBLE_EQ(sample[0], 200);
  EXPECT_EQ(sample[1], -3);
}

TEST_F(RateTrackerTest, LargeCounterKeepsItsLastDigits) {
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  update(0, large, 0);
  update(kSecond, large + 3, 0);
  EXPECT_DOUBLE_EQ(sample[0], 3);
}

TEST_F(RateTrackerTest, ResetHasNoRateAndIsCounted) {
  update(0, 500, 0);
  update(kSecond, 20, 0);
  EXPECT_TRUE(std::isnan(sample[0]));
  EXPECT_EQ(tracker.resets(), 1U);
  update(2 * kSecond, 50, 0);
  EXPECT_DOUBLE_EQ(sample[0], 30);
}

TEST(RateTracker, ACounterWithFractionsOnlyGrows) {
  RateTracker tracker({SlotKind::kFractions});
  std::array<double, 1> sample{};
  tracker.update(0, std::array{bits(10)}, sample);
  EXPECT_TRUE(std::isnan(sample[0]));
  tracker.update(2 * kSecond, std::array{bits(10.5)}, sample);
  EXPECT_DOUBLE_EQ(sample[0], 0.25);
  tracker.update(3 * kSecond, std::array{bits(0.5)}, sample);
  EXPECT_TRUE(std::isnan(sample[0])) << "its application was started again";
  EXPECT_EQ(tracker.resets(), 1U);
}

TEST(RateTracker, ASumMayFall) {
  RateTracker tracker({SlotKind::kSum});
  std::array<double, 1> sample{};
  tracker.update(0, std::array{bits(10)}, sample);
  EXPECT_TRUE(std::isnan(sample[0]));
  tracker.update(2 * kSecond, std::array{bits(13)}, sample);
  EXPECT_DOUBLE_EQ(sample[0], 1.5);
  tracker.update(3 * kSecond, std::array{bits(12.5)}, sample);
  EXPECT_DOUBLE_EQ(sample[0], -0.5);
  EXPECT_EQ(tracker.resets(), 0U);
}

TEST_F(RateTrackerTest, TimeThatStandsStillIsNoSample) {
  update(kSecond, 100, 0);
  update(kSecond, 160, 0);
  EXPECT_TRUE(std::isnan(sample[0]));
  update(kSecond - 1, 170, 0);
  EXPECT_TRUE(std::isnan(sample[0]));
  update(3 * kSecond, 200, 0);
  EXPECT_DOUBLE_EQ(sample[0], 50);
}

TEST_F(RateTrackerTest, AnotherOwnersCounterIsNotComparedWithTheLast) {
  update(0, 100, 0);
  tracker.restart();
  update(kSecond, 900, 0);
  EXPECT_TRUE(std::isnan(sample[0]));
  EXPECT_EQ(tracker.resets(), 0U);
}

}  // namespace
