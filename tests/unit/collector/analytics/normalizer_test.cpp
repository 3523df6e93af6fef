#include "collector/analytics/normalizer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

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
    normalizer.learn(std::array{value}, {true});
  }
  EXPECT_NEAR(normalized(normalizer, 5), 0, 1e-12);  // mean 5, deviation 2
  EXPECT_NEAR(normalized(normalizer, 9), 2, 1e-12);
}

TEST(Normalizer, FollowsADriftWithItsHalfLife) {
  Normalizer normalizer(1, 50);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 500; ++i) normalizer.learn(std::array{normal(random)}, {true});
  for (int i = 0; i < 50; ++i) normalizer.learn(std::array{8 + normal(random)}, {true});
  EXPECT_LT(normalized(normalizer, 4), 1.0);  // half way
  for (int i = 0; i < 600; ++i) normalizer.learn(std::array{8 + normal(random)}, {true});
  EXPECT_NEAR(normalized(normalizer, 8), 0, 0.5);
  EXPECT_NEAR(normalized(normalizer, 11), 3, 0.8);
}

TEST(Normalizer, ConstantHasNoScaleOfItsOwn) {
  Normalizer zero(1, 100);
  Normalizer thousand(1, 100);
  for (int i = 0; i < 100; ++i) {
    zero.learn(std::array{0.0}, {true});
    thousand.learn(std::array{1000.0}, {true});
  }
  EXPECT_EQ(zero.varying(), 0U);
  EXPECT_EQ(normalized(zero, 0), 0);
  EXPECT_EQ(normalized(zero, 1e-30), Normalizer::kFarthest);
  EXPECT_EQ(normalized(zero, -1e-30), -Normalizer::kFarthest);
  EXPECT_EQ(normalized(thousand, 1000), 0);
  EXPECT_NEAR(normalized(thousand, 1000.001), 1, 1e-6);
  EXPECT_EQ(normalized(thousand, 1001), Normalizer::kFarthest);
}

}  // namespace
