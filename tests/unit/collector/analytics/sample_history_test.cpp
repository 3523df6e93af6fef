#include "collector/analytics/sample_history.h"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace pingloom::collector::analytics;

void add(SampleHistory& history, int from, int to) {
  for (int i = from; i < to; ++i) history.add(std::array<double, 1>{static_cast<double>(i)});
}

TEST(SampleHistory, KeepsAllWhileThereIsRoom) {
  SampleHistory history(1, 8, 32);
  add(history, 0, 8);
  ASSERT_EQ(history.rows(), 8U);
  EXPECT_EQ(history.row(7)[0], 7);
}

TEST(SampleHistory, ThinsOutUntilItCoversTheDay) {
  SampleHistory history(1, 8, 32);
  add(history, 0, 32);
  EXPECT_EQ(history.stride(), 4U);
  ASSERT_EQ(history.rows(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(history.row(i)[0], 4 * static_cast<float>(i));
}

TEST(SampleHistory, ThenTheOldestMakesRoom) {
  SampleHistory history(1, 8, 32);
  add(history, 0, 41);
  ASSERT_EQ(history.rows(), 8U);
  EXPECT_EQ(history.row(0)[0], 12);
  EXPECT_EQ(history.row(7)[0], 40);
}

}  // namespace
