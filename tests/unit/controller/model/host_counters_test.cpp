#include "controller/model/host_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::controller::host_counters_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;  // the start of a minute

class HostCountersTest : public testing::Test {
 protected:
  static CounterId id(std::string_view name) {
    return counterNamed(CounterOrigin::kPort, name).value();
  }
  static NicUpdate update(bool complete, std::uint64_t symbols) {
    return {complete, {{"mlx5_0", 1, {{id("symbol_error_total"), symbols}}}}};
  }
  // Takes an update and returns by how much the counters moved.
  std::vector<std::uint64_t> take(const NicUpdate& told, Nanos passed, bool gap = false) {
    auto step = applyUpdate(counters_.get(), told, gap, kUtc + passed);
    EXPECT_TRUE(step) << step.error().text();
    if (!step) return {};
    counters_ = step->counters;
    std::vector<std::uint64_t> moved;
    for (const CounterRecord& each : step->moved) moved.push_back(each.moved);
    return moved;
  }
  const HostCounter& only() const { return counters_->ports.at(0).counters.at(0); }
  std::shared_ptr<const HostCounters> counters_;
};

TEST_F(HostCountersTest, CountsByTheMinute) {
  EXPECT_THAT(take(update(true, 7), 0), IsEmpty()) << "nobody knows since when";
  EXPECT_EQ(only().total, 7U);
  EXPECT_EQ(counters_->since_utc, kUtc);
  EXPECT_THAT(take(update(false, 9), 10 * kSecond), ElementsAre(2));
  EXPECT_THAT(take(update(false, 12), 50 * kSecond), ElementsAre(3));
  EXPECT_THAT(take(update(false, 13), 70 * kSecond), ElementsAre(1));
  EXPECT_THAT(only().moves, ElementsAre(CounterMove{kUtc + 10 * kSecond, kUtc + 50 * kSecond, 5},
                                        CounterMove{kUtc + 70 * kSecond, kUtc + 70 * kSecond, 1}));
  EXPECT_EQ(movedSince(only(), kUtc + 59 * kSecond), 6U);
  EXPECT_EQ(movedSince(only(), kUtc + 60 * kSecond), 1U);
  EXPECT_EQ(errorsMoved(*counters_, kUtc + 6 * kMinute), 1U);
  EXPECT_EQ(errorsMoved(*counters_, kUtc + 7 * kMinute), 0U);
}

TEST_F(HostCountersTest, KeepsFifteenMinutes) {
  take(update(true, 0), 0);
  for (int minute = 0; minute < 40; ++minute) {
    take(update(false, static_cast<std::uint64_t>(minute) + 1), minute * kMinute);
  }
  EXPECT_THAT(only().moves, SizeIs(HostCounters::kKeptMinutes));
  take(update(false, 100), 200 * kMinute);
  EXPECT_THAT(only().moves, SizeIs(1));
  take(update(false, 101), 10 * kMinute);  // the clock was set back
  EXPECT_THAT(only().moves, SizeIs(1));
}

TEST_F(HostCountersTest, ARegistrationGoesOnAndAGapDoesNot) {
  take(update(true, 7), 0);
  EXPECT_THAT(take(update(true, 9), kSecond), ElementsAre(2)) << "the agent was restarted";
  EXPECT_EQ(counters_->since_utc, kUtc);
  EXPECT_THAT(take(update(true, 20), kHour, true), IsEmpty());
  EXPECT_EQ(only().total, 20U);
  EXPECT_EQ(counters_->since_utc, kUtc + kHour);
  EXPECT_THAT(take(update(false, 25), 2 * kHour, true), IsEmpty());
  EXPECT_EQ(only().total, 25U);
}

TEST_F(HostCountersTest, WhatIsNotToldAnyMoreIsGone) {
  take(update(true, 7), 0);
  take({true, {}}, kSecond);
  EXPECT_THAT(counters_->ports, IsEmpty());
}

TEST_F(HostCountersTest, AMoveOfWhatWasNeverToldIsAnError) {
  EXPECT_FALSE(applyUpdate(nullptr, update(false, 7), false, kUtc));
  take(update(true, 7), 0);
  NicUpdate other = update(false, 8);
  other.ports[0].port = 2;
  EXPECT_FALSE(applyUpdate(counters_.get(), other, false, kUtc));
}

}  // namespace
}  // namespace pingloom::controller::host_counters_test
