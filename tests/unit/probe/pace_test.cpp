#include "probe/pace.h"

#include <gtest/gtest.h>

#include <memory>

namespace pingloom::probe::pace_test {
namespace {

// Makes the pace of a host with this many targets, each of which is pinged once in an interval.
Pace paceOf(std::size_t targets, Nanos interval = kSecond) {
  auto assignment = std::make_shared<plan::Assignment>();
  assignment->probe.interval = interval;
  for (std::size_t i = 0; i < targets; ++i) {
    assignment->destinations.push_back(IpAddress::fromV4(static_cast<std::uint32_t>(i + 1)));
  }
  WindowClock clock{0};
  WindowQueue queue;
  TaskList tasks{ClockSource::kKernel, 7, clock, queue};
  tasks.replace({assignment}, 0);
  return Pace(tasks.tasks());
}

TEST(PaceTest, FewPingsLeaveWhenTheyAreDue) {
  const Pace pace = paceOf(Pace::kExactPace);
  EXPECT_EQ(pace.departure(12'345), 12'345);
  EXPECT_EQ(pace.reach(12'345), 12'345);
}

TEST(PaceTest, ManyLeaveAtMostHalfAStepFromWhenTheyAreDue) {
  const Pace pace = paceOf(Pace::kExactPace + 1);
  for (Nanos due = 10 * kSecond; due < 10 * kSecond + 3 * Pace::kGrid; due += 7 * kMicrosecond) {
    const Nanos wake = pace.departure(due);
    EXPECT_LE(std::abs(wake - due), Pace::kGrid / 2) << due;
    EXPECT_GE(pace.reach(wake), due) << "or it would wake up for nothing";
    EXPECT_LT(pace.reach(wake - 1), due) << "or it could have left a step earlier";
  }
}

TEST(PaceTest, ATargetsPingsLeaveExactlyAnIntervalApart) {
  const Pace pace = paceOf(10'000);
  for (const Nanos interval : {100 * kMillisecond, 500 * kMillisecond, kSecond, 10 * kSecond}) {
    for (Nanos due = 10 * kSecond; due < 10 * kSecond + Pace::kGrid; due += 7 * kMicrosecond) {
      EXPECT_EQ(pace.departure(due + interval), pace.departure(due) + interval) << due;
    }
  }
}

TEST(PaceTest, ShortIntervalsAreKeptExactly) {
  EXPECT_EQ(paceOf(2, kMillisecond).departure(12'345), 12'345);
  EXPECT_EQ(paceOf(1000, Pace::kShortest - 1).departure(12'345), 12'345);
  EXPECT_NE(paceOf(1000, Pace::kShortest).departure(12'345), 12'345);
}

TEST(PaceTest, AWakeUpBetweenStepsSendsNothingMore) {
  const Pace pace = paceOf(10'000);
  const Nanos step = pace.departure(10 * kSecond);
  EXPECT_EQ(pace.reach(step + Pace::kGrid - 1), pace.reach(step));
  EXPECT_EQ(pace.reach(step + Pace::kGrid), pace.reach(step) + Pace::kGrid);
}

TEST(PaceTest, NothingDueIsNeverWokenFor) {
  EXPECT_EQ(paceOf(10'000).departure(INT64_MAX), INT64_MAX);
}

}  // namespace
}  // namespace pingloom::probe::pace_test
