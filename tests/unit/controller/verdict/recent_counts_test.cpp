#include "controller/verdict/recent_counts.h"

#include <gtest/gtest.h>

namespace pingloom::controller {
namespace {

TEST(RecentCounts, SumsTheNewestWindows) {
  RecentCounts counts;
  EXPECT_EQ(counts.sum().sent, 0U);
  for (std::uint32_t window = 0; window < 10; ++window) counts.take(window, {10, window});
  EXPECT_EQ(counts.sum().sent, 60U);
  EXPECT_EQ(counts.sum().lost, 4U + 5 + 6 + 7 + 8 + 9);
  EXPECT_EQ(counts[0].lost, 9U);
  EXPECT_EQ(counts[5].lost, 4U);
}

TEST(RecentCounts, ReplacesAWindowThatComesAgain) {
  RecentCounts counts;
  counts.take(7, {10, 2});
  counts.take(7, {12, 3});
  EXPECT_EQ(counts.sum().sent, 12U);
  EXPECT_EQ(counts.sum().lost, 3U);
}

TEST(RecentCounts, TellsTheTwoWaysApartOnlyIfEveryWindowDoes) {
  RecentCounts counts;
  counts.take(1, {10, 2, 9});
  counts.take(2, {10, 1, 10});
  ASSERT_TRUE(counts.sum().apart());
  EXPECT_EQ(counts.sum().arrived, 19U);
  counts.take(3, {10, 0});
  EXPECT_FALSE(counts.sum().apart());
  for (std::uint32_t window = 4; window < 4 + RecentCounts::kWindows; ++window) {
    counts.take(window, {10, 1, 9});
  }
  EXPECT_EQ(counts.sum().arrived, 54U);
}

TEST(RecentCounts, ForgetsWhatAccusedSomebodyWhoIsNotAccusedAnyMore) {
  RecentCounts counts;
  counts.take(1, {10, 2});
  counts.take(2, {10, 3});
  counts.accuse();
  counts.take(3, {10, 1});
  counts.take(4, {10, 0});
  EXPECT_EQ(counts.sum().lost, 6U);
  counts.take(5, {10, 4});
  EXPECT_EQ(counts.sum().sent, 10U);
  EXPECT_EQ(counts.sum().lost, 4U);
  counts.take(6, {10, 0});
  EXPECT_EQ(counts.sum().sent, 20U);
}

}  // namespace
}  // namespace pingloom::controller
