#include "controller/history/history_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/history/event_reader.h"
#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::history_copy_test {
namespace {

using test::ip;

constexpr Nanos kWindow = 10 * kSecond;
constexpr std::uint64_t kFirst = 179'523'072;
constexpr Nanos kUtc = static_cast<Nanos>(kFirst) * kWindow;

// The destination is a file, and so is the source unless the tests run with a server.
class HistoryCopyTest : public testing::Test {
 protected:
  HistoryCopyTest() {
    auto ledger = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(ledger) << ledger.error().text();
    std::vector<LedgerBatch> batches;
    for (std::uint64_t i = 0; i < 1'200; ++i) {
      const auto report = test::reportOf("udp", "10.0.0.1", kFirst + i, {});
      batches.push_back(test::ledgerBatchOf({1, i + 1}, report));
    }
    EXPECT_TRUE((*ledger)->commit(batches, kUtc));
    const std::vector<PresenceRecord> presence = {
        {kUtc, std::nullopt, PresenceRecord::Kind::kGone}};
    const std::vector<VerdictRecord> verdicts = {
        {VerdictRecord::Kind::kIncident, "1", kUtc, 0, "it's open"}};
    EXPECT_TRUE((*ledger)->record(events_, presence, verdicts));
  }
  Result<std::uint64_t> copied() {
    return copyHistory(history_.place(), HistoryPlace(file()),
                       [&](const CopyProgress& progress) { progress_ = progress; });
  }
  std::filesystem::path file() const { return history_.folder() / "copy.sqlite"; }

  const std::vector<KeptEvent> events_ = {
      {kUtc, kUtc, "udp", ip("10.0.0.1"), std::nullopt, PairState::kOk, PairState::kLoss, 7},
      {kUtc + 1, 0, "udp", std::nullopt, ip("fd00::1"), PairState::kOk, PairState::kLoss, 8}};
  test::TestHistory history_;
  CopyProgress progress_;
};

TEST_F(HistoryCopyTest, HasAllThatTheOtherHas) {
  const auto rows = copied();
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_EQ(*rows, 1'200U + 1 + 2 + 1 + 1) << "windows, a mark, events, presence, an incident";
  EXPECT_EQ(progress_.done, *rows);
  EXPECT_EQ(progress_.all, *rows);

  auto ledger = std::move(*Ledger::open({file(), 24 * kHour, 1ULL << 30}, kUtc));
  EXPECT_EQ(ledger->marks(), (Ledger::Marks{{"host", wire::BatchId{1, 1'200}}}));
  EXPECT_EQ(ledger->verdicts(0)->at(0).document, "it's open");
  auto history = std::move(*History::open(file()));
  EventQuery query;
  query.until_utc = kUtc + kHour;
  query.limit = 10;
  EXPECT_EQ(readEvents(history->database(), query)->events, events_);
  std::vector<Nanos> starts;
  ASSERT_TRUE(history->visit({"udp", ip("10.0.0.1"), 0, 0, INT64_MAX},
                             [&](const PastContent& one) { starts.push_back(one.start_utc); }));
  ASSERT_EQ(starts.size(), 1'200U);
  EXPECT_EQ(starts.back(), kUtc + 1'199 * kWindow);
}

TEST_F(HistoryCopyTest, RefusesAPlaceThatIsInUseAndLeavesItAsItWas) {
  ASSERT_TRUE(copied());
  const auto again = copied();
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text(), testing::HasSubstr("has 1205 rows already"));
  const auto itself = copyHistory(history_.place(), history_.place(), [](const CopyProgress&) {});
  ASSERT_FALSE(itself);
  EXPECT_THAT(itself.error().text(), testing::HasSubstr("both source and destination"));
}

}  // namespace
}  // namespace pingloom::controller::history_copy_test
