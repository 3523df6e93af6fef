#include "probe/stall_watch.h"

#include <gtest/gtest.h>

namespace pingloom::probe::stall_watch_test {
namespace {

constexpr Nanos kMs = kMillisecond;

TEST(StallWatch, PunctualTicksAreNoStall) {
  StallWatch watch;
  watch.watchUntil(0, kHour);
  for (Nanos now = 0; now < 10 * kSecond; now += 39 * kMs) watch.tick(now);  // 19 ms late each
  EXPECT_EQ(watch.stalls(), 0U);
  EXPECT_FALSE(watch.stalledDuring(0, 10 * kSecond));
}

TEST(StallWatch, ALateTickIsAStallFromWhenItShouldHaveCome) {
  StallWatch watch;
  watch.watchUntil(0, kHour);
  watch.tick(20 * kMs);
  watch.tick(140 * kMs);  // expected at 40
  EXPECT_EQ(watch.stalls(), 1U);
  EXPECT_TRUE(watch.stalledDuring(100 * kMs, 110 * kMs));
  EXPECT_TRUE(watch.stalledDuring(0, 41 * kMs));
  EXPECT_TRUE(watch.stalledDuring(139 * kMs, kSecond));
  EXPECT_FALSE(watch.stalledDuring(0, 39 * kMs));
  EXPECT_FALSE(watch.stalledDuring(141 * kMs, kSecond));
}

TEST(StallWatch, RemembersTheLastSixteen) {
  StallWatch watch;
  watch.watchUntil(0, kHour);
  for (Nanos i = 1; i <= 20; ++i) watch.tick(i * kSecond);
  EXPECT_EQ(watch.stalls(), 20U);
  EXPECT_FALSE(watch.stalledDuring(0, 4 * kSecond - 1)) << "the oldest are forgotten";
  EXPECT_TRUE(watch.stalledDuring(4 * kSecond + 20 * kMs, 5 * kSecond));
}

TEST(StallWatch, RestsWhenNothingIsUnderWay) {
  StallWatch watch;
  EXPECT_EQ(watch.nextTick(), kNever);
  watch.tick(kHour);  // an idle agent's first wake-up
  EXPECT_EQ(watch.stalls(), 0U);
  watch.watchUntil(kHour, kHour + 50 * kMs);
  EXPECT_EQ(watch.nextTick(), kHour + 20 * kMs);
  watch.tick(kHour + 20 * kMs);
  watch.tick(kHour + 40 * kMs);
  watch.watchUntil(kHour + 45 * kMs, kHour + 30 * kMs);  // sooner than before: no change
  watch.tick(kHour + 60 * kMs);
  EXPECT_EQ(watch.nextTick(), kNever);
  watch.watchUntil(2 * kHour, 2 * kHour + kSecond);
  watch.tick(2 * kHour + 10 * kMs);
  EXPECT_EQ(watch.stalls(), 0U) << "resting is no stall";
}

TEST(StallWatch, TakesStallsThatTheLoopFoundOut) {
  StallWatch watch;
  watch.observed(5 * kMs, 90 * kMs);
  EXPECT_EQ(watch.stalls(), 1U);
  EXPECT_TRUE(watch.stalledDuring(50 * kMs, 60 * kMs));
}

}  // namespace
}  // namespace pingloom::probe::stall_watch_test
