#include "controller/history/counter_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::counter_store_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CounterStoreTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;
  void open(std::uint64_t max_bytes = 1ULL << 30) {
    auto opened = Ledger::open({place(), 24 * kHour, max_bytes}, kUtc);
    ASSERT_TRUE(opened) << opened.error().text();
    ledger_ = std::move(*opened);
  }
  HistoryPlace place() const { return history_.place(); }
  static CounterRecord record(const std::string& host, Nanos minute, std::uint64_t moved,
                              const char* counter = "symbol_error_total") {
    const CounterId id = counterNamed(CounterOrigin::kPort, counter).value();
    return {minute, host, "mlx5_0", 1, id, UINT64_MAX, moved};
  }
  void write(const std::vector<CounterRecord>& records) {
    const auto status = ledger_->record({}, {}, {}, {}, records);
    ASSERT_TRUE(status) << status.error().text();
  }
  std::vector<PastCounter> read(const CounterQuery& query) {
    const auto history = History::open(place());
    EXPECT_TRUE(history) << history.error().text();
    const auto found = readCounters((*history)->database(), query);
    EXPECT_TRUE(found);
    return *found;
  }
  std::vector<std::uint64_t> moved(const CounterQuery& query) {
    std::vector<std::uint64_t> made;
    for (const PastCounter& each : read(query)) made.push_back(each.moved);
    return made;
  }

  test::TestHistory history_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(CounterStoreTest, ReadsTheMinutesOfAHostTheNewestFirst) {
  open();
  write({record("gpu-1", kUtc, 5), record("gpu-2", kUtc, 6)});
  write({record("gpu-1", kUtc + kMinute, 7, "np_cnp_packets_sent_total")});
  const auto found = read({"gpu-1", kUtc, kUtc + kHour, 10});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].kind, CounterKind::kLoad);
  EXPECT_EQ(found[1].minute_utc, kUtc);
  EXPECT_EQ(found[1].device, "mlx5_0");
  EXPECT_EQ(found[1].port, 1U);
  EXPECT_EQ(found[1].counter, "symbol_error_total");
  EXPECT_EQ(found[1].kind, CounterKind::kError);
  EXPECT_EQ(found[1].total, UINT64_MAX);
  EXPECT_THAT(moved({"gpu-1", kUtc + 1, kUtc + kHour, 10}), ElementsAre(7));
  EXPECT_THAT(moved({"gpu-1", kUtc, kUtc + kHour, 1}), ElementsAre(7));
  EXPECT_THAT(moved({"gpu-3", kUtc, kUtc + kHour, 10}), IsEmpty());
}

TEST_F(CounterStoreTest, ForgetsWhatIsOldAndWhatIsTooMuchOfEachKind) {
  open(3 * CounterStore::kBytesOfEach);
  write({record("a", kUtc - 48 * kHour, 1), record("a", kUtc, 2)});
  for (std::uint64_t i = 0; i < 10; ++i) {
    write({record("a", kUtc, 100 + i, "np_cnp_packets_sent_total")});
  }
  ASSERT_TRUE(ledger_->trim(1, kUtc));
  EXPECT_THAT(moved({"a", 0, kUtc + kHour, 100}), ElementsAre(109, 108, 107, 2))
      << "load does not crowd out errors";
}

}  // namespace
}  // namespace pingloom::controller::counter_store_test
