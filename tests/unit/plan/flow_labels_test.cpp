#include "plan/flow_labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace pingloom::plan::flow_labels_test {
namespace {

TEST(PathCoverage, IsWhatCanBeCountedByHand) {
  EXPECT_DOUBLE_EQ(coverage(0, 1), 0);
  EXPECT_DOUBLE_EQ(coverage(1, 1), 1);
  EXPECT_DOUBLE_EQ(coverage(1, 2), 0);
  for (int labels = 1; labels < 20; ++labels) {
    EXPECT_NEAR(coverage(static_cast<std::uint32_t>(labels), 2), 1 - 2 * std::pow(0.5, labels),
                1e-12);
    const double three = 1 - 3 * std::pow(2.0 / 3, labels) + 3 * std::pow(1.0 / 3, labels);
    EXPECT_NEAR(coverage(static_cast<std::uint32_t>(labels), 3), three, 1e-12);
  }
  EXPECT_NEAR(coverage(4, 4), 24.0 / 256, 1e-12) << "4! of 4^4";
}

TEST(PathCoverage, IsWhatDrawingShows) {
  std::mt19937 random(1);
  int covered = 0;
  constexpr int kRuns = 20'000;
  for (int run = 0; run < kRuns; ++run) {
    std::set<std::uint32_t> used;
    for (int label = 0; label < 40; ++label) used.insert(random() % 8);
    if (used.size() == 8) ++covered;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kRuns, coverage(40, 8), 0.006);
}

TEST(PathCoverage, TheFewestLabelsAreEnoughAndOneLessIsNot) {
  EXPECT_EQ(labelsToCover(1), 1U);
  EXPECT_EQ(labelsToCover(2), 8U);
  for (const std::uint32_t paths : {2U, 3U, 4U, 8U, 16U, 32U, 64U, 1024U}) {
    const std::uint32_t labels = labelsToCover(paths);
    EXPECT_GE(coverage(labels, paths), kCoverage) << paths;
    EXPECT_LT(coverage(labels - 1, paths), kCoverage) << paths;
  }
}

TEST(PathCoverage, LabelsCoverAsManyPathsAsTheyAreEnoughFor) {
  EXPECT_EQ(pathsCovered(1), 1U);
  EXPECT_EQ(pathsCovered(7), 1U);
  EXPECT_EQ(pathsCovered(8), 2U);
  for (std::uint32_t labels = 1; labels <= 64; ++labels) {
    const std::uint32_t paths = pathsCovered(labels);
    EXPECT_LE(labelsToCover(paths), labels);
    EXPECT_GT(labelsToCover(paths + 1), labels);
  }
}

}  // namespace
}  // namespace pingloom::plan::flow_labels_test
