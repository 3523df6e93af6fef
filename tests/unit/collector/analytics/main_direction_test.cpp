#include "collector/analytics/main_direction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace pingloom::collector::analytics;

TEST(MainDirection, FollowsWhatTheMetricsShare) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> rows;
  std::vector<double> loads;
  for (int i = 0; i < 2000; ++i) {
    const float load = normal(random);
    loads.push_back(load);
    for (int m = 0; m < 5; ++m) rows.push_back(100 + load + 0.3F * normal(random));
    rows.push_back(7);                    // never moves
    rows.push_back(50 * normal(random));  // follows nothing
  }
  MainDirection direction(7, 0.5);
  direction.learn(rows);
  double square = 0, product = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::vector<double> row(rows.begin() + static_cast<std::ptrdiff_t>(7 * i),
                                  rows.begin() + static_cast<std::ptrdiff_t>(7 * i + 7));
    const double load = direction.load(row);
    square += load * load;
    product += load * loads[i];
  }
  EXPECT_NEAR(std::sqrt(square / 2000), 2, 0.05);  // half a deviation counts as 1
  EXPECT_GT(std::abs(product / 2000), 1.9);
}

TEST(MainDirection, OfConstantsIsNone) {
  MainDirection direction(2, 1);
  direction.learn(std::vector<float>(20, 3));
  EXPECT_EQ(direction.load(std::vector<double>{5, 6}), 0);
}

}  // namespace
