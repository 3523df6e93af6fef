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

}  // namespace
}  // namespace pingloom::controller
