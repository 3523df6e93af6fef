#include "collector/analytics/adaptive_sampler.h"

#include <gtest/gtest.h>

namespace {

using namespace pingloom;
using namespace pingloom::collector::analytics;

TEST(AdaptiveSampler, QuietGroupIsExportedNowAndThen) {
  AdaptiveSampler sampler({.slow_interval = 30 * kSecond, .hold = kMinute});
  int exported = 0;
  for (int second = 0; second < 300; ++second) {
    if (sampler.exports(second * kSecond, GroupState::kQuiet, 10)) ++exported;
  }
  EXPECT_EQ(exported, 10);
  EXPECT_EQ(sampler.exported(), 100U);
  EXPECT_EQ(sampler.suppressed(), 2900U);
}

TEST(AdaptiveSampler, AnomalyIsExportedAtOnceAndForTheHoldTime) {
  AdaptiveSampler sampler({.slow_interval = 30 * kSecond, .hold = 5 * kSecond});
  EXPECT_TRUE(sampler.exports(0, GroupState::kQuiet, 1));
  EXPECT_FALSE(sampler.exports(kSecond, GroupState::kQuiet, 1));
  EXPECT_TRUE(sampler.exports(2 * kSecond, GroupState::kAnomalous, 1));
  for (int second = 3; second <= 7; ++second) {
    EXPECT_TRUE(sampler.exports(second * kSecond, GroupState::kQuiet, 1)) << second;
  }
  EXPECT_FALSE(sampler.exports(8 * kSecond, GroupState::kQuiet, 1));
  EXPECT_TRUE(sampler.exports(37 * kSecond, GroupState::kQuiet, 1));
}

TEST(AdaptiveSampler, NothingIsHeldBackOfAGroupOfWhichNothingIsKnown) {
  AdaptiveSampler sampler;
  for (int second = 0; second < 100; ++second) {
    EXPECT_TRUE(sampler.exports(second * kSecond, GroupState::kLearning, 1));
  }
  EXPECT_EQ(sampler.suppressed(), 0U);
}

}  // namespace
