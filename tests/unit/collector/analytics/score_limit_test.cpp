#include "collector/analytics/score_limit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace pingloom::collector::analytics;

TEST(ScoreLimit, IsRarelyReachedByUsualScores) {
  ScoreLimit limit(3, 0.02, {5, 9});
  std::mt19937 random(2);
  std::normal_distribution<double> normal(1, 0.2);
  for (int i = 0; i < 100'000; ++i) limit.add(normal(random), true);
  Hysteresis hysteresis({5, 9});
  int raised = 0;
  for (int i = 0; i < 36'000; ++i) raised += hysteresis.add(normal(random) > limit.limit()) ? 1 : 0;
  EXPECT_EQ(raised, 0);
  EXPECT_LT(limit.limit(), 2);
}

TEST(ScoreLimit, SingleHighScoresDoNotRaiseIt) {
  ScoreLimit calm(3, 0.02, {5, 9}), spiky(3, 0.02, {5, 9});
  for (int i = 0; i < 50'000; ++i) {
    calm.add(1, true);
    spiky.add(i % 20 == 0 ? 50 : 1, true);
  }
  EXPECT_NEAR(calm.limit(), spiky.limit(), 0.01);
}

TEST(ScoreLimit, IsHigherWhileItIsYoung) {
  ScoreLimit limit(3, 0.02, {5, 9});
  const double first = limit.limit();
  for (int i = 0; i < 6000; ++i) limit.add(i % 60 < 30 ? 0.9 : 0.8, true);
  EXPECT_LT(limit.limit(), 0.8 * first);
}

}  // namespace
