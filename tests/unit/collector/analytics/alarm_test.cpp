#include "collector/analytics/alarm.h"

#include <gtest/gtest.h>

namespace {

using namespace pingloom::collector::analytics;

struct AlarmTest : testing::Test {
  // Returns after how many samples of this score there is an anomaly; 0 if there is none.
  int raisedAfter(double score) {
    for (int i = 1; i <= 1000; ++i) {
      if (alarm.add(score)) return i;
    }
    return 0;
  }
  Alarm alarm{{.raise = 5, .window = 9}, 6};
};

TEST_F(AlarmTest, TheLargerAScoreTheSooner) {
  EXPECT_EQ(raisedAfter(1), 0);
  EXPECT_EQ(raisedAfter(1.125), 48);
  alarm.clear();
  EXPECT_EQ(raisedAfter(1.5), 12);
  alarm.clear();
  EXPECT_EQ(raisedAfter(2), 6);
  alarm.clear();
  EXPECT_EQ(raisedAfter(50), 6);
}

TEST_F(AlarmTest, WithoutEvidenceNOfMDecide) {
  alarm = Alarm({.raise = 5, .window = 9}, 0);
  EXPECT_EQ(raisedAfter(1.001), 5);
}

TEST_F(AlarmTest, ScoresBelowOneTakeEvidenceAway) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(alarm.add(1.5));
    EXPECT_FALSE(alarm.add(0.5));
  }
}

TEST_F(AlarmTest, ItEndsWhenNoneOfTheWindowIsAboveOne) {
  ASSERT_EQ(raisedAfter(2), 6);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(alarm.add(i % 8 == 7 ? 1.01 : 0));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(alarm.add(0));
  EXPECT_TRUE(alarm.raised());
  for (int i = 0; i < 6; ++i) alarm.add(0);
  EXPECT_FALSE(alarm.raised());
}

// However long an anomaly was, the next one needs its own evidence.
TEST_F(AlarmTest, EvidenceIsSoonGone) {
  for (int i = 0; i < 1000; ++i) alarm.add(50);
  for (int i = 0; i < 12; ++i) alarm.add(0);
  ASSERT_FALSE(alarm.raised());
  EXPECT_EQ(raisedAfter(1.5), 12);
}

}  // namespace
