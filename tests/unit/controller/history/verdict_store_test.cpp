#include "controller/history/verdict_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::verdict_store_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = VerdictRecord::Kind;

class VerdictStoreTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;
  void open(Nanos retention = 24 * kHour) {
    ledger_.reset();
    auto opened = Ledger::open({place(), retention, 1ULL << 30}, kUtc);
    ASSERT_TRUE(opened) << opened.error().text();
    ledger_ = std::move(*opened);
  }
  HistoryPlace place() const { return history_.place(); }
  void record(const std::vector<VerdictRecord>& records) {
    const auto status = ledger_->record({}, {}, records);
    ASSERT_TRUE(status) << status.error().text();
  }
  std::vector<std::string> kept(Nanos closed_after = kUtc) {
    std::vector<std::string> made;
    const auto loaded = ledger_->verdicts(closed_after);
    EXPECT_TRUE(loaded);
    for (const VerdictRecord& each : *loaded) made.push_back(each.key + "=" + each.document);
    return made;
  }
  std::vector<std::string> past(Nanos from, Nanos until, std::size_t limit = 10) {
    const auto history = History::open(place());
    EXPECT_TRUE(history) << history.error().text();
    const auto found = readIncidents((*history)->database(), {from, until, limit});
    EXPECT_TRUE(found);
    return *found;
  }

  test::TestHistory history_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(VerdictStoreTest, KeepsWhatIsOpenAndReplacesById) {
  open();
  record({{Kind::kIncident, "1", kUtc, 0, "first"},
          {Kind::kIncident, "2", kUtc, kUtc + kSecond, "closed lately"},
          {Kind::kIncident, "3", kUtc - kHour, kUtc - kHour, "closed before"},
          {Kind::kSilence, "4", kUtc, kUtc + kHour, "silence"},
          {Kind::kMaintenance, "gpu-7", kUtc, kNever, "maintenance"}});
  record({{Kind::kIncident, "1", kUtc, 0, "changed"}});
  open();
  EXPECT_THAT(kept(), testing::UnorderedElementsAre("1=changed", "2=closed lately",
                                                    "3=closed before",  // it has the highest id
                                                    "4=silence", "gpu-7=maintenance"));
  record({{Kind::kSilence, "4"}, {Kind::kMaintenance, "gpu-7"}});
  EXPECT_THAT(kept(), SizeIs(3));
}

TEST_F(VerdictStoreTest, ThePastIsReadByTimeTheNewestFirst) {
  open();
  record({{Kind::kIncident, "1", kUtc, kUtc + kMinute, "a"},
          {Kind::kIncident, "2", kUtc + 2 * kMinute, 0, "b"},
          {Kind::kSilence, "3", kUtc, 0, "no incident"}});
  EXPECT_THAT(past(kUtc, kUtc + kHour), ElementsAre("b", "a"));
  EXPECT_THAT(past(kUtc, kUtc + kHour, 1), ElementsAre("b"));
  EXPECT_THAT(past(kUtc + 2 * kMinute, kUtc + kHour), ElementsAre("b"));
  EXPECT_THAT(past(kUtc, kUtc + kMinute), ElementsAre("a"));
  EXPECT_THAT(past(kUtc - kHour, kUtc), IsEmpty());
  const auto history = History::open(place());
  EXPECT_EQ(*readIncident((*history)->database(), 2), "b");
  EXPECT_EQ(*readIncident((*history)->database(), 3), "");
}

TEST_F(VerdictStoreTest, ClosedIncidentsAreTrimmedByAge) {
  open(kHour);
  record({{Kind::kIncident, "1", kUtc, kUtc, "old"},
          {Kind::kIncident, "2", kUtc, 0, "open"},
          {Kind::kSilence, "3", kUtc, kUtc + kSecond, "silence"}});
  ASSERT_TRUE(ledger_->trim(1, kUtc + 2 * kHour));
  EXPECT_THAT(kept(0), testing::UnorderedElementsAre("2=open", "3=silence"));
}

TEST_F(VerdictStoreTest, TheFileOfVersion1IsReadAndWrittenTo) {
  std::filesystem::copy_file(
      std::string(PINGLOOM_SOURCE_DIR) + "/tests/data/ledger/version-1.sqlite", history_.file());
  open();
  record({{Kind::kIncident, "1", kUtc, 0, "a"}});
  EXPECT_THAT(kept(), ElementsAre("1=a", "17={}"));
}

}  // namespace
}  // namespace pingloom::controller::verdict_store_test
