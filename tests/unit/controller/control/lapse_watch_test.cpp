#include "controller/control/lapse_watch.h"

#include <gtest/gtest.h>

namespace pingloom::controller::lapse_watch_test {
namespace {

TEST(LapseWatch, IsSteadyWhileItTurns) {
  LapseWatch watch;
  for (Nanos now = kHour; now < kHour + 10 * kSecond; now += kSecond) {
    EXPECT_TRUE(watch.steady(now));
  }
}

TEST(LapseWatch, ALapseNeedsTimeToCatchUp) {
  LapseWatch watch;
  Nanos now = kHour;
  EXPECT_TRUE(watch.steady(now));
  now += 8 * kSecond;
  EXPECT_FALSE(watch.steady(now));
  EXPECT_FALSE(watch.steady(now + kSecond));
  EXPECT_TRUE(watch.steady(now + LapseWatch::kCatchUp));
  EXPECT_TRUE(watch.steady(now + LapseWatch::kCatchUp + kSecond));
}

TEST(LapseWatch, AnotherLapseBeginsAnew) {
  LapseWatch watch;
  EXPECT_TRUE(watch.steady(kHour));
  EXPECT_FALSE(watch.steady(kHour + 5 * kSecond));
  EXPECT_FALSE(watch.steady(kHour + 9 * kSecond));
  EXPECT_FALSE(watch.steady(kHour + 10 * kSecond));
  EXPECT_TRUE(watch.steady(kHour + 11 * kSecond));
}

}  // namespace
}  // namespace pingloom::controller::lapse_watch_test
