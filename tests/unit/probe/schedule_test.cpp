#include "probe/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace pingloom::probe::schedule_test {
namespace {

using Due = ProbeSchedule::Due;

std::vector<Due> takeAll(ProbeSchedule& schedule, Nanos now) {
  std::vector<Due> out;
  schedule.take(now, SIZE_MAX, out);
  return out;
}

// Wakes up exactly when the schedule requires it.
std::vector<Due> runUntil(ProbeSchedule& schedule, Nanos end) {
  std::vector<Due> out;
  while (schedule.nextDue() < end) schedule.take(schedule.nextDue(), SIZE_MAX, out);
  return out;
}

std::vector<std::uint32_t> orderOf(std::size_t targets, std::uint64_t seed) {
  ProbeSchedule schedule(kSecond, targets, 0, seed);
  std::vector<std::uint32_t> order;
  for (const Due& due : runUntil(schedule, kSecond)) order.push_back(due.target);
  return order;
}

TEST(ProbeSchedule, DoesNotDriftOverHours) {
  ProbeSchedule schedule(kSecond, 7, 5 * kMillisecond, 1);
  std::map<std::uint32_t, Nanos> first;
  std::map<std::uint32_t, std::uint64_t> pings;
  std::vector<Due> out;
  const Nanos end = 3 * kHour + 5 * kMillisecond;
  // Every wake-up is late by a different amount, which may not move any due time.
  for (Nanos late = 0; schedule.nextDue() < end; late = (late + 37 * kMicrosecond) % kMillisecond) {
    out.clear();
    schedule.take(schedule.nextDue() + late, SIZE_MAX, out);
    for (const Due& due : out) {
      const auto [at, is_new] = first.try_emplace(due.target, due.due_mono);
      EXPECT_EQ(due.due_mono, at->second + static_cast<Nanos>(pings[due.target]++) * kSecond);
    }
  }
  for (const auto& [target, count] : pings) EXPECT_EQ(count, 3U * 3600) << target;
  EXPECT_EQ(schedule.skipped(), 0U);
}

TEST(ProbeSchedule, SpreadsTargetsEvenlyOverTheInterval) {
  ProbeSchedule schedule(kSecond, 10'000, 123, 42);
  const auto round = runUntil(schedule, 123 + kSecond);
  ASSERT_EQ(round.size(), 10'000U);
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < round.size(); ++i) {
    EXPECT_EQ(round[i].due_mono, 123 + static_cast<Nanos>(i) * 100 * kMicrosecond);
    seen.insert(round[i].target);
  }
  EXPECT_EQ(seen.size(), 10'000U) << "every target once in an interval";
}

TEST(ProbeSchedule, EverySeedHasAnOrderOfItsOwn) {
  EXPECT_EQ(orderOf(100, 1), orderOf(100, 1));
  EXPECT_NE(orderOf(100, 1), orderOf(100, 2));
  // Over many hosts, each target is the first about equally often.
  std::map<std::uint32_t, int> firsts;
  for (std::uint64_t seed = 0; seed < 8000; ++seed) ++firsts[orderOf(8, seed).front()];
  ASSERT_EQ(firsts.size(), 8U);
  for (const auto& [target, times] : firsts) EXPECT_NEAR(times, 1000, 150) << target;
}

TEST(ProbeSchedule, HonoursTheLimitOfOneCall) {
  ProbeSchedule schedule(kSecond, 1000, 0, 1);
  std::vector<Due> out;
  schedule.take(3 * kMillisecond, 2, out);
  EXPECT_EQ(out.size(), 2U);
  schedule.take(3 * kMillisecond, 100, out);
  EXPECT_EQ(out.size(), 4U) << "0, 1, 2 and 3 ms";
}

class AfterStall : public testing::TestWithParam<Nanos> {};

TEST_P(AfterStall, PacesAtTwiceTheRateAtMost) {
  constexpr std::size_t kTargets = 10'000;
  ProbeSchedule schedule(kSecond, kTargets, 0, 7);
  (void)runUntil(schedule, 2 * kSecond);
  const Nanos back = 2 * kSecond + GetParam();
  std::vector<Nanos> sent;  // when, after the stall
  for (Nanos now = back; now < back + 3 * kSecond; now += 250 * kMicrosecond) {
    sent.insert(sent.end(), takeAll(schedule, now).size(), now);
  }
  // The configured rate is 10 pings a millisecond. In any 10 ms it may be twice that plus the
  // bucket.
  const std::size_t bucket = 10 * ProbeSchedule::kBurst / kMillisecond;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto end = std::lower_bound(sent.begin(), sent.end(), sent[i] + 10 * kMillisecond);
    ASSERT_LE(static_cast<std::size_t>(end - sent.begin()) - i, 200 + bucket + 1);
  }
  // All pings that were not a whole interval late have left, and the schedule is on time again.
  const auto lost_rounds = static_cast<std::uint64_t>(std::max<Nanos>(0, GetParam() - kSecond));
  EXPECT_NEAR(static_cast<double>(schedule.skipped()),
              static_cast<double>(lost_rounds) / kSecond * kTargets, 2);
  EXPECT_NEAR(static_cast<double>(sent.size() + schedule.skipped()),
              static_cast<double>((GetParam() + 3 * kSecond)) / kSecond * kTargets, 60);
  std::vector<Due> out;
  schedule.take(back + 3 * kSecond, SIZE_MAX, out);
  for (const Due& due : out) EXPECT_GE(due.due_mono, back + 3 * kSecond - kMillisecond);
}
INSTANTIATE_TEST_SUITE_P(Stalls, AfterStall,
                         testing::Values(10 * kMillisecond, 500 * kMillisecond, 5 * kSecond));

TEST(ProbeSchedule, AlwaysWakingUpLateLosesNothing) {
  ProbeSchedule schedule(kSecond, 10'000, 0, 7);
  std::size_t sent = 0;
  for (Nanos now = 0; now <= 5 * kSecond; now += 19 * kMillisecond) {
    sent += takeAll(schedule, now).size();
  }
  EXPECT_GE(sent, 49'800U);
  EXPECT_EQ(schedule.skipped(), 0U);
}

TEST(ProbeSchedule, AWholeIntervalOverdueIsSkippedAndCounted) {
  ProbeSchedule schedule(kMillisecond, 1, 0, 1);
  EXPECT_EQ(takeAll(schedule, 0).size(), 1U);
  const auto after = takeAll(schedule, kHour);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].due_mono, kHour) << "1 h - 1 ms was a whole interval late";
  EXPECT_EQ(schedule.skipped(), 3'600'000U - 1);
}

TEST(ProbeSchedule, ShortIntervalsAndManyTargets) {
  ProbeSchedule fast(kMillisecond, 3, 0, 1);
  EXPECT_EQ(runUntil(fast, kSecond).size(), 3000U);
  ProbeSchedule wide(kHour, 1'000'000, 0, 1);
  EXPECT_EQ(runUntil(wide, kSecond).size(), 278U);
  std::vector<Due> out;
  wide.take(2 * kHour - 1, SIZE_MAX, out);
  EXPECT_GT(wide.skipped(), 999'000U - 278);
  ProbeSchedule none(kSecond, 0, 0, 1);
  EXPECT_EQ(none.nextDue(), kNever);
  EXPECT_TRUE(takeAll(none, kHour).empty());
}

TEST(ProbeSchedule, EndsAtItsLimit) {
  ProbeSchedule schedule(kSecond, 1, 0, 1);
  schedule.limit(3);
  EXPECT_EQ(takeAll(schedule, 0).size(), 1U);
  EXPECT_EQ(takeAll(schedule, 10 * kSecond).size(), 0U) << "two were a whole interval late";
  EXPECT_EQ(schedule.skipped(), 2U);
  EXPECT_EQ(schedule.nextDue(), kNever);
  ProbeSchedule other(kSecond, 2, 0, 1);
  other.limit(3);
  EXPECT_EQ(runUntil(other, kHour).size(), 3U);
}

TEST(ProbeSchedule, FirstPingComesSoonAndHostsDiffer) {
  std::set<Nanos> starts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Nanos first = ProbeSchedule::firstDue(kHour, 2, kSecond, seed);
    EXPECT_GE(first, kSecond);
    EXPECT_LT(first, kSecond + ProbeSchedule::kMaxStart);
    starts.insert(first);
    EXPECT_LT(ProbeSchedule::firstDue(kSecond, 1000, 0, seed), kMillisecond);
  }
  EXPECT_GT(starts.size(), 95U);
}

// Checks the gaps between consecutive pings of targets that stay, over a plan change at 10.4 s.
void expectSmoothChange(std::size_t before_targets, const std::vector<std::uint32_t>& new_numbers,
                        std::size_t after_targets, Nanos tolerance) {
  ProbeSchedule before(kSecond, before_targets, 0, 3);
  std::map<std::uint32_t, Nanos> last;  // by new number
  for (const Due& due : runUntil(before, 10 * kSecond + 400 * kMillisecond)) {
    if (new_numbers[due.target] != kGone) last[new_numbers[due.target]] = due.due_mono;
  }
  const Nanos now = 10 * kSecond + 400 * kMillisecond;
  ProbeSchedule after(before, new_numbers, kSecond, after_targets, now, 3);
  std::map<std::uint32_t, int> pings;
  for (const Due& due : runUntil(after, now + 2 * kSecond)) {
    ++pings[due.target];
    const auto known = last.find(due.target);
    if (known != last.end()) {
      EXPECT_NEAR(static_cast<double>(due.due_mono - known->second), kSecond, tolerance);
    }
    last[due.target] = due.due_mono;
  }
  EXPECT_EQ(pings.size(), after_targets);
  for (const auto& [target, count] : pings) EXPECT_NEAR(count, 2, 1) << target;
}

TEST(ProbeScheduleChange, TargetsThatStayKeepTheirTimes) {
  std::vector<std::uint32_t> numbers(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) numbers[i] = i % 2 == 0 ? i / 2 : kGone;
  expectSmoothChange(1000, numbers, 500, 60 * kMillisecond);  // half leaves
  for (std::uint32_t i = 0; i < 1000; ++i) numbers[i] = i * 2;
  expectSmoothChange(1000, numbers, 2000, 60 * kMillisecond);  // as many join
  for (std::uint32_t i = 0; i < 1000; ++i) numbers[i] = i;
  expectSmoothChange(1000, numbers, 1000, kMillisecond);
}

TEST(ProbeScheduleChange, FrequentChangesStarveNobody) {
  std::vector<std::uint32_t> numbers(100);
  for (std::uint32_t i = 0; i < 100; ++i) numbers[i] = i;
  ProbeSchedule schedule(kSecond, 100, 0, 1);
  std::map<std::uint32_t, int> pings;
  for (Nanos now = 0; now < 10 * kSecond; now += 7 * kMillisecond) {
    for (const Due& due : takeAll(schedule, now)) ++pings[due.target];
    schedule = ProbeSchedule(schedule, numbers, kSecond, 100, now, 1);
  }
  ASSERT_EQ(pings.size(), 100U);
  for (const auto& [target, count] : pings) EXPECT_NEAR(count, 10, 1) << target;
}

TEST(ProbeScheduleChange, ToAndFromNothing) {
  ProbeSchedule empty(kSecond, 0, 0, 1);
  ProbeSchedule some(empty, {}, kSecond, 4, kSecond, 1);
  EXPECT_LT(some.nextDue(), kSecond + 300 * kMillisecond);
  const std::vector<std::uint32_t> gone(4, kGone);
  ProbeSchedule none(some, gone, kSecond, 0, 2 * kSecond, 1);
  EXPECT_EQ(none.nextDue(), kNever);
}

}  // namespace
}  // namespace pingloom::probe::schedule_test
