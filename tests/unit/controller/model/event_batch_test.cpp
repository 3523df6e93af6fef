#include "controller/model/event_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "unit/controller/support.h"

namespace pingloom::controller::event_batch_test {
namespace {

using test::ip;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;

IpAddress host(int number) {
  return IpAddress::fromV4(0x0a000000U + static_cast<std::uint32_t>(number));
}

StateEvent change(int from, int to, PairState after = PairState::kLoss,
                  PairState before = PairState::kOk) {
  return {kUtc, "mesh", host(from), host(to), before, after, kUtc - 10 * kSecond};
}

std::uint64_t pairsOf(const std::vector<KeptEvent>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const KeptEvent& line) { return sum + line.pairs; });
}

TEST(EventBatch, FewPairsHaveALineEach) {
  EventBatch batch;
  batch.add(change(1, 2));
  batch.add(change(2, 1, PairState::kOk, PairState::kLoss));
  const auto lines = batch.take(kUtc);
  const KeptEvent lost{kUtc,    kUtc - 10 * kSecond, "mesh",           host(1),
                       host(2), PairState::kOk,      PairState::kLoss, 1};
  EXPECT_THAT(lines, testing::Contains(lost));
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(batch.take(kUtc).empty());
}

TEST(EventBatch, ASeverityThatChangesIsAnEventOfItsOwn) {
  EventBatch batch;
  StateEvent slow = change(1, 2, PairState::kOk);
  slow.severity_from = Severity::kOk;
  slow.severity_to = Severity::kVerySlow;
  batch.add(slow);
  batch.add(change(1, 3, PairState::kOk, PairState::kLoss));
  const auto lines = batch.take(kUtc);
  ASSERT_EQ(lines.size(), 2U);
  const KeptEvent& line = lines[0].severity_to == Severity::kVerySlow ? lines[0] : lines[1];
  EXPECT_EQ(line.destination, host(2));
  EXPECT_EQ(line.from, PairState::kOk);
  EXPECT_EQ(line.to, PairState::kOk);
  EXPECT_EQ(line.severity_from, Severity::kOk);
  EXPECT_EQ(line.window_utc, kUtc - 10 * kSecond);
}

TEST(EventBatch, WhatOnlyBeginsIsNoEvent) {
  EventBatch batch;
  batch.add(change(1, 2, PairState::kOk, PairState::kPending));
  batch.add(change(1, 2, PairState::kStale, PairState::kPending));
  EXPECT_TRUE(batch.empty());
  batch.add(change(1, 2, PairState::kLoss, PairState::kPending));
  EXPECT_FALSE(batch.empty());
}

TEST(EventBatch, NoWindowShowsThatNoneCame) {
  EventBatch batch;
  batch.add(change(1, 2, PairState::kStale));
  EXPECT_EQ(batch.take(kUtc).at(0).window_utc, 0);
}

TEST(EventBatch, ABadHostIsItsRowAndItsColumn) {
  EventBatch batch;
  for (int other = 1; other <= 100; ++other) {
    if (other == 7) continue;
    batch.add(change(7, other));
    batch.add(change(other, 7));
  }
  batch.add(change(20, 30));
  const auto lines = batch.take(kUtc);
  ASSERT_EQ(lines.size(), 3U);
  const auto has = [&](std::optional<IpAddress> source, std::optional<IpAddress> destination,
                       std::uint64_t pairs) {
    return std::any_of(lines.begin(), lines.end(), [&](const KeptEvent& line) {
      return line.source == source && line.destination == destination && line.pairs == pairs;
    });
  };
  EXPECT_TRUE(has(host(7), std::nullopt, 99));
  EXPECT_TRUE(has(std::nullopt, host(7), 99));
  EXPECT_TRUE(has(host(20), host(30), 1));
}

TEST(EventBatch, AStormOfAMillionPairsIsOneLineForEachChange) {
  EventBatch batch;
  constexpr int kHosts = 1000;
  for (int from = 0; from < kHosts; ++from) {
    for (int to = 0; to < kHosts; ++to) {
      if (from == to) continue;
      batch.add(change(from, to, from % 2 == 0 ? PairState::kStale : PairState::kAgentDown));
    }
  }
  const auto lines = batch.take(kUtc);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(pairsOf(lines), 999'000U);
  EXPECT_EQ(lines[0].source, std::nullopt);
  EXPECT_EQ(lines[0].destination, std::nullopt);
}

TEST(EventBatch, MorePairsThanItRemembersAreCounted) {
  EventBatch batch;
  const std::size_t all = EventBatch::kMaxPairs + 5;
  for (std::size_t i = 0; i < all; ++i) batch.add(change(1, 2));
  batch.add(change(1, 2, PairState::kRefused));
  const auto lines = batch.take(kUtc);
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_EQ(pairsOf(lines), all + 1);
}

// 64 lines a second for an hour would push all else out.
TEST(EventBatch, AFabricThatFlapsOnComesToAFewLinesASecond) {
  EventBatch batch;
  std::size_t kept = 0;
  constexpr int kSeconds = 3600;
  for (int second = 0; second < kSeconds; ++second) {
    for (int i = 0; i < 60; ++i) batch.add(change(i, 1000 + i));
    const auto lines = batch.take(kUtc + second * kSecond);
    EXPECT_EQ(pairsOf(lines), 60U);
    kept += lines.size();
  }
  EXPECT_LT(kept, EventBatch::kMaxBurst + 12 * kSeconds);
}

}  // namespace
}  // namespace pingloom::controller::event_batch_test
