#include "common/tick_clock.h"

#include <gtest/gtest.h>

namespace pingloom::tick_clock_test {
namespace {

TEST(TickClock, ConvertsAtTheClocksOwnRate) {
  EXPECT_EQ(TickClock(ClockSource::kHardware, 1'000'000, ~0ULL).between(5, 1005), 1000);
  EXPECT_EQ(TickClock(ClockSource::kHardware, 78'125, ~0ULL).between(0, 78'125), kMillisecond);
  EXPECT_EQ(TickClock(ClockSource::kHardware, 156'250, ~0ULL).between(0, 1), 6);
  EXPECT_EQ(TickClock(ClockSource::kHardware, 1'000'000'000, ~0ULL).between(0, 1'000), 1);
}

TEST(TickClock, CountsThroughAWrapOfAnyWidth) {
  for (int bits = 32; bits <= 64; ++bits) {
    const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
    const TickClock clock(ClockSource::kHardware, 1'000'000, mask);
    EXPECT_EQ(clock.between(mask - 9, 90), 100) << bits;
  }
}

TEST(TickClock, KnowsItsPeriod) {
  EXPECT_EQ(TickClock(ClockSource::kHardware, 1'000'000, 0xFFFFFFFF).period(), 4'294'967'295);
  EXPECT_EQ(TickClock(ClockSource::kHardware, 78'125, ~0ULL).period(), INT64_MAX);
}

}  // namespace
}  // namespace pingloom::tick_clock_test
