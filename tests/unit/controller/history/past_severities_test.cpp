#include "controller/history/past_severities.h"

#include <gtest/gtest.h>

#include <random>

#include "controller/history/event_queue.h"
#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "controller/history/severity_store.h"
#include "controller/model/grid_plan.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::past_severities_test {
namespace {

using test::ip;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
constexpr Nanos kWindow = 10 * kSecond;
const IpAddress kSource = ip("10.0.0.1");

class PastSeveritiesTest : public testing::Test {
 protected:
  PastSeveritiesTest() {
    const auto plan = makeGridPlan(
        test::pinglistOf("  - { name: mesh, protocol: udp, mesh: ['10.0.0.[1-3]', fd00::4] }\n"),
        1);
    grid_ = plan->probes[0];
    auto opened = Ledger::open({history_.place(), kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(opened) << opened.error().text();
    ledger_ = std::move(*opened);
  }

  // Records what is judged of 10.0.0.1's pairs with .2 and .3 from a window on.
  void record(Nanos since, Severity second, Severity third) {
    const std::vector<SeverityRecord> records = {recordOf(since, second, third)};
    const auto status = ledger_->record({}, {}, {}, records);
    EXPECT_TRUE(status) << status.error().text();
  }
  SeverityRecord recordOf(Nanos since, Severity second, Severity third) const {
    SourceSnapshot snapshot;
    snapshot.states = {std::nullopt, PairState::kOk, PairState::kOk, std::nullopt};
    snapshot.judged = {{}, {second, 0}, {third, 0}, {}};
    return {since, "mesh", kSource, encodeSeverities(grid_, snapshot)};
  }
  // Returns what stands in the grid of these windows, such as "ok down".
  std::string shown(Nanos from, Nanos until, PairState second = PairState::kOk) {
    const auto history = History::open(history_.place());
    auto past = PastSeverities::open((*history)->database());
    std::vector<Judged> judged;
    const States states = {std::nullopt, second, PairState::kOk, std::nullopt};
    EXPECT_TRUE(past->read(grid_, kSource, from, until, states, judged));
    return std::string(name(judged.at(1).severity)) + " " +
           std::string(name(judged.at(2).severity));
  }
  std::string window(std::int64_t index) {
    return shown(kUtc + index * kWindow, kUtc + (index + 1) * kWindow);
  }

  test::TestHistory history_;
  ProbeGrid grid_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(PastSeveritiesTest, AWindowShowsWhatWasJudgedWithIt) {
  record(kUtc, Severity::kOk, Severity::kOk);
  record(kUtc + 3 * kWindow, Severity::kOk, Severity::kDown);
  EXPECT_EQ(window(-1), "none none") << "nobody knows";
  EXPECT_EQ(window(0), "ok ok");
  EXPECT_EQ(window(2), "ok ok");
  EXPECT_EQ(window(3), "ok down");
  EXPECT_EQ(window(100), "ok down");
}

TEST_F(PastSeveritiesTest, AMinuteShowsTheWorstOfItsWindows) {
  record(kUtc, Severity::kOk, Severity::kSlow);
  record(kUtc + kWindow, Severity::kVerySlow, Severity::kOk);
  record(kUtc + 2 * kWindow, Severity::kOk, Severity::kOk);
  EXPECT_EQ(shown(kUtc, kUtc + kMinute), "very slow slow");
  EXPECT_EQ(shown(kUtc + 2 * kWindow, kUtc + kMinute), "ok ok");
}

TEST_F(PastSeveritiesTest, TheLastPartOfAWindowCounts) {
  record(kUtc, Severity::kOk, Severity::kNone);
  record(kUtc, Severity::kOk, Severity::kDown);
  EXPECT_EQ(window(0), "ok down");
}

TEST_F(PastSeveritiesTest, APairThatCouldNotBeJudgedHasNone) {
  record(kUtc, Severity::kDown, Severity::kOk);
  EXPECT_EQ(shown(kUtc, kUtc + kWindow, PairState::kAgentDown), "none ok");
  EXPECT_EQ(shown(kUtc, kUtc + kWindow, PairState::kStale), "none ok");
}

// Destinations that a record names may be next to each other, far apart, or not in the grid.
TEST_F(PastSeveritiesTest, NamedDestinationsAreFoundAmongMany) {
  constexpr std::uint32_t kMany = 3'000;
  grid_.destinations.clear();
  for (std::uint32_t i = 0; i < kMany; ++i) {
    grid_.destinations.push_back(IpAddress::fromV4(0x0a000002 + 2 * i));
  }
  std::mt19937 random(5);
  for (const std::uint32_t one_in : {1U, 2U, 50U, 1'000U, 10'000U}) {
    SeverityRecord record{kUtc + one_in * kWindow, "mesh", kSource, {}};
    record.content = {static_cast<char>(Severity::kOk)};
    for (std::uint32_t i = 0; i < 2 * kMany; ++i) {
      if (random() % one_in != 0) continue;
      record.content += static_cast<char>(Severity::kSlow);
      record.content += IpAddress::fromV4(0x0a000002 + i).wire();
    }
    ASSERT_TRUE(ledger_->record({}, {}, {}, {&record, 1}));
    const auto history = History::open(history_.place());
    auto past = PastSeverities::open((*history)->database());
    std::vector<Judged> judged;
    ASSERT_TRUE(past->worst(grid_, kSource, record.since_utc, record.since_utc + 1, judged));
    const auto wanted = decodeSeverities(record.content);
    ASSERT_EQ(judged.size(), kMany);
    for (std::uint32_t i = 0; i < kMany; ++i) {
      ASSERT_EQ(judged[i].severity, wanted->of(grid_.destinations[i])) << i << ", " << one_in;
    }
  }
}

TEST_F(PastSeveritiesTest, ATimelineSaysTheSameOfOnePair) {
  record(kUtc, Severity::kOk, Severity::kOk);
  record(kUtc + 2 * kWindow, Severity::kOk, Severity::kLossy);
  record(kUtc + 4 * kWindow, Severity::kOk, Severity::kOk);
  const auto history = History::open(history_.place());
  auto past = PastSeverities::open((*history)->database());
  const auto timeline =
      past->timeline("mesh", kSource, ip("10.0.0.3"), kUtc + kWindow, kUtc + kHour);
  ASSERT_TRUE(timeline);
  const auto worst = [&](std::int64_t from, std::int64_t until) {
    return worstIn(*timeline, kUtc + from * kWindow, kUtc + until * kWindow, PairState::kOk);
  };
  EXPECT_EQ(worst(1, 2), Severity::kOk);
  EXPECT_EQ(worst(2, 3), Severity::kLossy);
  EXPECT_EQ(worst(0, 10), Severity::kLossy);
  EXPECT_EQ(worst(4, 10), Severity::kOk);
  EXPECT_EQ(worstIn(*timeline, kUtc, kUtc + kHour, PairState::kAgentDown), Severity::kNone);
}

TEST_F(PastSeveritiesTest, WhatIsInForceOutlivesTheHistoryUntilItsSourceIsGone) {
  record(kUtc, Severity::kOk, Severity::kOk);
  record(kUtc + kWindow, Severity::kOk, Severity::kDown);
  const auto later = static_cast<std::uint64_t>((kUtc + 2 * kHour) / kWindow);
  const std::vector<LedgerBatch> batches = {test::ledgerBatchOf(
      {1, 1}, test::reportOf("mesh", "10.0.0.1", later, {test::goodRow("10.0.0.2")}))};
  ASSERT_TRUE(ledger_->commit(batches, kUtc));
  ASSERT_TRUE(ledger_->trim(0, kUtc + 2 * kHour));
  EXPECT_EQ(window(0), "none none");
  EXPECT_EQ(window(1), "ok down");
  ASSERT_TRUE(ledger_->trim(100, kUtc + 9 * kHour));
  ASSERT_TRUE(ledger_->trim(100, kUtc + 10 * kHour));
  EXPECT_EQ(window(1), "none none") << "the source has no windows left";
}

TEST_F(PastSeveritiesTest, KeepsLessWhereTheHistoryIsSmall) {
  ledger_.reset();
  auto opened = Ledger::open({history_.place(), kHour, 10'000}, kUtc);
  ASSERT_TRUE(opened) << opened.error().text();
  ledger_ = std::move(*opened);
  for (int i = 0; i < 20; ++i) {
    record(kUtc + i * kWindow, i % 2 == 0 ? Severity::kOk : Severity::kSlow, Severity::kOk);
  }
  ASSERT_TRUE(ledger_->trim(0, kUtc));
  EXPECT_EQ(window(14), "none none");
  EXPECT_EQ(window(15), "slow ok") << "five are left";
}

TEST_F(PastSeveritiesTest, WhatTheQueueDroppedIsNotKnown) {
  record(kUtc, Severity::kOk, Severity::kDown);
  EventQueue queue;
  constexpr auto kDropped = 3;
  std::vector<SeverityRecord> records;
  for (int i = 0; i < kDropped; ++i) {
    records.push_back(recordOf(kUtc + (5 + i) * kWindow, Severity::kSlow, Severity::kDown));
  }
  // These share the time of the last one that is dropped: they are parts of its window.
  const Nanos kept = kUtc + (5 + kDropped - 1) * kWindow;
  records.resize(kDropped + EventQueue::kMaxWaiting,
                 recordOf(kept, Severity::kOk, Severity::kLossy));
  queue.add({}, {}, {}, std::move(records));
  EXPECT_EQ(queue.dropped(), kDropped);
  queue.writeTo(*ledger_, kSecond);
  EXPECT_EQ(window(4), "ok down");
  EXPECT_EQ(window(5), "none none") << "it was dropped, and the earlier record is over";
  EXPECT_EQ(window(6), "none none");
  EXPECT_EQ(window(7), "ok lossy");
}

TEST(SeverityRecord, DamagedBytesAreNotRead) {
  for (const std::string& bytes :
       {std::string(), std::string("\x06"), std::string("\x01\x02\x0a\x00\x00", 5),
        std::string("\x01\x82\x0a\x00\x00\x01", 6),
        std::string("\x01\x02\x0a\x00\x00\x02\x02\x0a\x00\x00\x01", 11)}) {
    EXPECT_FALSE(decodeSeverities(bytes)) << bytes.size();
  }
  const auto read = decodeSeverities(std::string("\x01\x02\x0a\x00\x00\x02", 6));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->of(ip("10.0.0.2")), Severity::kSlow);
  EXPECT_EQ(read->of(ip("10.0.0.3")), Severity::kOk);
}

}  // namespace
}  // namespace pingloom::controller::past_severities_test
