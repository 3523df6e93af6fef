#include "collector/analytics/normalizer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "collector/analytics/score_limit.h"

namespace {

using namespace pingloom::collector::analytics;

double normalized(const Normalizer& normalizer, double value) {
  std::array<double, 1> out{};
  normalizer.normalize(std::array{value}, out);
  return out[0];
}

TEST(Normalizer, FirstSamplesHaveTheirMeanAndDeviation) {
  Normalizer normalizer(1, 1e6);
  for (const double value : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) {
    normalizer.learn(std::array{value});
  }
  EXPECT_NEAR(normalized(normalizer, 5), 0, 1e-12);  // mean 5, deviation 2
  EXPECT_NEAR(normalized(normalizer, 9), 2, 1e-12);
}

TEST(Normalizer, FollowsADriftWithItsHalfLife) {
  Normalizer normalizer(1, 50);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 500; ++i) normalizer.learn(std::array{normal(random)});
  for (int i = 0; i < 50; ++i) normalizer.learn(std::array{8 + normal(random)});
  EXPECT_LT(normalized(normalizer, 4), 1.0);  // half way
  for (int i = 0; i < 600; ++i) normalizer.learn(std::array{8 + normal(random)});
  EXPECT_NEAR(normalized(normalizer, 8), 0, 0.5);
  EXPECT_NEAR(normalized(normalizer, 11), 3, 0.8);
}

TEST(Normalizer, ConstantHasNoScaleOfItsOwn) {
  Normalizer zero(1, 100);
  Normalizer thousand(1, 100);
  for (int i = 0; i < 100; ++i) {
    zero.learn(std::array{0.0});
    thousand.learn(std::array{1000.0});
  }
  EXPECT_EQ(zero.varying(), 0U);
  EXPECT_EQ(normalized(zero, 0), 0);
  EXPECT_EQ(normalized(zero, 1e-30), Normalizer::kFarthest);
  EXPECT_EQ(normalized(zero, -1e-30), -Normalizer::kFarthest);
  EXPECT_EQ(normalized(thousand, 1000), 0);
  EXPECT_NEAR(normalized(thousand, 1000.001), 1, 1e-6);
  EXPECT_EQ(normalized(thousand, 1001), Normalizer::kFarthest);
}

TEST(ScoreLimit, IsLearnedFromTheFirstScoresWhateverAFewOfThemAre) {
  ScoreLimit limit(101, 4, 0.001);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(limit.learned());
    limit.add(i);
  }
  limit.add(1e9);
  ASSERT_TRUE(limit.learned());
  EXPECT_NEAR(limit.limit(), 50 + 4 * 40, 1);
}

TEST(ScoreLimit, FollowsSlowly) {
  ScoreLimit limit(200, 5, 0.01);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; ++i) limit.add(10 + normal(random));
  const double before = limit.limit();
  limit.add(1e12);
  EXPECT_LT(limit.limit(), before + 0.1);
  for (int i = 0; i < 20000; ++i) limit.add(20 + 2 * normal(random));
  EXPECT_NEAR(limit.limit(), 20 + 5 * 2 * 1.28, 2);
}

TEST(ScoreLimit, ScoresThatDoNotDifferHaveALimitAboveThem) {
  ScoreLimit limit(10, 5, 0.001);
  for (int i = 0; i < 1000; ++i) limit.add(3);
  EXPECT_GT(limit.limit(), 3);
  EXPECT_LT(limit.limit(), 4);
}

}  // namespace
