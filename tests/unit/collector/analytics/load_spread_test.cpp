#include "collector/analytics/load_spread.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace {

using namespace pingloom::collector::analytics;

constexpr std::array<std::uint32_t, 1> kOld = {1'000'000};

struct LoadSpreadTest : testing::Test {
  void learn(double load, double mean, double scatter, int samples) {
    for (int i = 0; i < samples; ++i) {
      const std::array<double, 1> left = {mean + scatter * normal(random)};
      spread.place(load);
      spread.learn(left, kOld);
    }
  }
  double deviation(double load, double left) {
    spread.place(load);
    return spread.deviation(0, left);
  }

  std::mt19937 random{3};
  std::normal_distribution<double> normal;
  LoadSpread spread{1};
};

TEST_F(LoadSpreadTest, JudgesByWhatIsUsualAtTheLoad) {
  learn(-2, 0, 0.1, 1000);
  learn(2, 1, 1, 1000);
  EXPECT_NEAR(deviation(-2, 1), 10, 1);
  EXPECT_NEAR(deviation(2, 1), 0, 0.2);
  EXPECT_NEAR(deviation(2, 4), 3, 0.3);
}

TEST_F(LoadSpreadTest, IsCertainAfterManySamplesAtTheLoad) {
  learn(1, 0, 1, 100);
  learn(3, 0, 1, 10'000);
  spread.place(1);
  EXPECT_NEAR(spread.certainty(0, 1), 0.5, 1e-3);
  EXPECT_EQ(spread.certainty(0, 0), 1) << "nothing is doubted";
  spread.place(3);
  EXPECT_GT(spread.certainty(0, 1), 0.98);
  spread.place(-5);
  EXPECT_EQ(spread.certainty(0, 1), 0) << "nothing is known of this load";
}

TEST_F(LoadSpreadTest, InterpolatesBetweenLoads) {
  learn(1, 0, 0.5, 1000);
  learn(2, 4, 0.5, 1000);
  EXPECT_NEAR(deviation(1.5, 2), 0, 0.2);
}

TEST_F(LoadSpreadTest, ALoadIsKnownAfterSomeSamplesThere) {
  learn(1, 0, 1, 59);
  spread.place(1);
  EXPECT_FALSE(spread.known());
  learn(1, 0, 1, 2);
  EXPECT_TRUE(spread.known());
  spread.place(3);
  EXPECT_FALSE(spread.known());
}

TEST_F(LoadSpreadTest, LoadsBeyondTheBinsAreTheFarthest) {
  learn(1e9, 5, 1, 100);
  spread.place(8);
  EXPECT_TRUE(spread.known());
  EXPECT_NEAR(deviation(-1e9, 0), 0, 1e-9);
}

TEST_F(LoadSpreadTest, AMetricThatBecomesActiveIsLearnedAnew) {
  learn(0, 0, 1, 10'000);
  constexpr std::array<std::uint32_t, 1> kYoung = {1};
  const std::array<double, 1> left = {50};
  spread.place(0);
  spread.learn(left, kYoung);
  EXPECT_NEAR(spread.deviation(0, 50), 0, 0.01);
}

}  // namespace
