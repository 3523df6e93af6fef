#include "collector/analytics/slot_activity.h"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace pingloom::collector::analytics;

struct SlotActivityTest : testing::Test {
  // Feeds samples in which the slot moves in every `every`-th one; 0 stands for never.
  void feed(int samples, int every) {
    for (int i = 0; i < samples; ++i) {
      if (every > 0 && i % every == 0) ++sample[0];
      activity.observe(sample, true, true);
    }
  }
  std::array<double, 1> sample{};
  SlotActivity activity{1};
};

TEST_F(SlotActivityTest, AConstantIsNotActive) {
  feed(1000, 0);
  EXPECT_FALSE(activity.active(0));
  feed(1, 1);  // one join
  EXPECT_FALSE(activity.active(0));
}

TEST_F(SlotActivityTest, MovesThatBecomeFrequentMakeItActiveAndYoung) {
  feed(5000, 0);
  feed(600, 1);
  ASSERT_TRUE(activity.active(0));
  EXPECT_LT(activity.ages()[0], 600U);
  EXPECT_GT(activity.ages()[0], 100U);
}

TEST_F(SlotActivityTest, AnActiveSlotThatStopsIsFlat) {
  feed(1000, 1);
  EXPECT_LT(activity.flat(0), 1);
  feed(19, 0);
  EXPECT_LT(activity.flat(0), 1);
  feed(2, 0);
  EXPECT_GE(activity.flat(0), 1);
}

TEST_F(SlotActivityTest, RunsThatAreUsualAreNotFlat) {
  feed(1000, 1);
  for (int i = 0; i < 50; ++i) {
    feed(15, 0);
    feed(100, 1);
  }
  feed(50, 0);
  EXPECT_LT(activity.flat(0), 1);
}

TEST_F(SlotActivityTest, ASlotThatOftenRestsIsNeverFlat) {
  feed(3000, 4);
  ASSERT_TRUE(activity.active(0));
  feed(300, 0);
  EXPECT_EQ(activity.flat(0), 0);
}

}  // namespace
