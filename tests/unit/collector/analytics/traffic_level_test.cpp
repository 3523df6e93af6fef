#include "collector/analytics/traffic_level.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pingloom::collector::analytics::traffic_level_test {
namespace {

std::optional<double> minutes(TrafficLevel& traffic, const std::vector<double>& sample, int count,
                              bool learn = true) {
  std::optional<double> level;
  for (int i = 0; i < count; ++i) {
    traffic.add(sample);
    level = traffic.endMinute();
    if (learn) traffic.learn();
  }
  return level;
}

TEST(TrafficLevel, isTheLogarithmOfWhatHasChanged) {
  TrafficLevel traffic({true});
  EXPECT_EQ(minutes(traffic, {50}, 2), std::nullopt) << "too few minutes";
  EXPECT_NEAR(*minutes(traffic, {50}, 10), 0, 1e-6);
  EXPECT_NEAR(*minutes(traffic, {25}, 5), -std::log(2), 1e-6);
  EXPECT_NEAR(*minutes(traffic, {25}, 3000), -std::log(2), 1e-3) << "it does not become usual";
  EXPECT_EQ(*minutes(traffic, {0}, 5), -TrafficLevel::kFarthest);
}

TEST(TrafficLevel, oneRateOfManyDoesNotMoveIt) {
  TrafficLevel traffic({true, true, true, true, false});
  minutes(traffic, {10, 2000, 0.3, 7, 5}, 60);
  EXPECT_NEAR(*minutes(traffic, {10, 2000, 0.3, 700, 9}, 5), 0, 0.01);
  EXPECT_NEAR(*minutes(traffic, {5, 1000, 0.15, 700, 0}, 5), -std::log(2), 0.01);
}

TEST(TrafficLevel, aRateThatGoesItsOwnWayWeighsLittle) {
  TrafficLevel traffic({true, true, true});
  std::mt19937 random{1};
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; ++i) minutes(traffic, {100, std::exp(2 * normal(random)), 30}, 1);
  EXPECT_NEAR(*minutes(traffic, {50, 1, 15}, 5, false), -std::log(2), 0.15);
  EXPECT_TRUE(traffic.follows(0, traffic.leastApart()));
  EXPECT_FALSE(traffic.follows(1, traffic.leastApart()));
}

TEST(TrafficLevel, aRateThatIsZeroUntilItIsUsedTakesNoPart) {
  TrafficLevel traffic({true, true, true});
  minutes(traffic, {100, 0, 0}, 60);
  EXPECT_NEAR(*minutes(traffic, {50, 0, 0}, 5, false), -std::log(2), 0.01);
}

TEST(TrafficLevel, aRateThatHasStoppedKeepsItsUsualRate) {
  TrafficLevel traffic({true, true, true});
  minutes(traffic, {100, 50, 10}, 1500);
  minutes(traffic, {100, 50, 0}, 5000);
  EXPECT_NEAR(traffic.rateAt(2, 0), 10, 1);
}

TEST(TrafficLevel, missingValuesAreNotZero) {
  TrafficLevel traffic({true, true});
  minutes(traffic, {100, 10}, 60);
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(*minutes(traffic, {none, 10}, 5), 0, 0.01);
  EXPECT_NEAR(*minutes(traffic, {-1, 10}, 5), 0, 0.01);
  EXPECT_EQ(minutes(traffic, {none, none}, 5), std::nullopt);
}

TEST(TrafficLevel, aNewRateContinuesTheLevel) {
  TrafficLevel traffic({true});
  minutes(traffic, {100}, 60);
  minutes(traffic, {50}, 5);
  TrafficLevel more({true, true});
  EXPECT_TRUE(more.takeOver(traffic, std::vector<std::size_t>{0, kNewSlot}));
  EXPECT_NEAR(*minutes(more, {50, 8}, 10), -std::log(2), 0.02);
  TrafficLevel later({true});
  EXPECT_TRUE(later.takeOver(more, std::vector<std::size_t>{1}));
  EXPECT_NEAR(*minutes(later, {16}, 5), 0, 0.05);
  TrafficLevel other({true});
  EXPECT_FALSE(other.takeOver(more, std::vector<std::size_t>{kNewSlot}));
}

}  // namespace
}  // namespace pingloom::collector::analytics::traffic_level_test
