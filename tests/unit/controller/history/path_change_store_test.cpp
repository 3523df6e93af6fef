#include "controller/history/path_change_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/history/event_queue.h"
#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::path_change_store_test {
namespace {

using test::ip;
using testing::ElementsAre;
using testing::IsEmpty;

class PathChangeStoreTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;

  void open(std::uint64_t max_bytes = 1ULL << 30) {
    auto opened = Ledger::open({history_.place(), 24 * kHour, max_bytes}, kUtc);
    ASSERT_TRUE(opened) << opened.error().text();
    ledger_ = std::move(*opened);
  }
  void write(const std::vector<PathChange>& changes) {
    const auto status = ledger_->record({}, {}, {}, {}, {}, changes);
    ASSERT_TRUE(status) << status.error().text();
  }
  static PathChange change(Nanos utc, const char* source, const char* destination,
                           std::uint64_t flows = 1, bool several = false) {
    PathChange made{utc,         "rdma",     flows,
                    ip(source),  ip(source), ip(destination),
                    3,           2,          "10.2.0.1 10.2.0.2",
                    "10.2.0.1 *"};
    if (several) made.of.reset();
    return made;
  }
  FoundPathChanges read(const PathChangeQuery& query) {
    const auto history = History::open(history_.place());
    EXPECT_TRUE(history) << history.error().text();
    auto found = readPathChanges((*history)->database(), query);
    EXPECT_TRUE(found);
    return *found;
  }

  test::TestHistory history_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(PathChangeStoreTest, ReadsWhatWasWrittenTheOldestFirst) {
  open();
  const PathChange one = change(kUtc, "10.0.0.1", "10.0.0.2");
  const PathChange six = change(kUtc + kSecond, "fd00::1", "fd00::2", 6);
  const PathChange many = change(kUtc + kMinute, "10.0.0.3", "10.0.0.4", 900, true);
  write({one, six});
  write({many});
  PathChangeQuery query;
  query.from_utc = kUtc;
  query.until_utc = kUtc + kHour;
  query.limit = 10;
  EXPECT_THAT(read(query).changes, ElementsAre(one, six, many));
  query.limit = 1;
  EXPECT_THAT(read(query).changes, ElementsAre(many));
  EXPECT_EQ(read(query).left_out, 2U);
  query.until_utc = kUtc + kMinute;
  EXPECT_THAT(read(query).changes, ElementsAre(six));
  query.probe = "other";
  EXPECT_THAT(read(query).changes, IsEmpty());
}

TEST_F(PathChangeStoreTest, FindsWhatMayConcernAPair) {
  open();
  const PathChange own = change(kUtc, "10.0.0.1", "10.0.0.2");
  const PathChange other = change(kUtc, "10.0.0.1", "10.0.0.9");
  const PathChange source = change(kUtc, "10.0.0.1", "10.0.0.9", 5);
  const PathChange elsewhere = change(kUtc, "10.0.0.8", "10.0.0.2", 5);
  const PathChange all = change(kUtc, "10.0.0.8", "10.0.0.9", 500, true);
  write({own, other, source, elsewhere, all});
  PathChangeQuery query{kUtc, kUtc + 1, "rdma", ip("10.0.0.1"), ip("10.0.0.2"), 10};
  EXPECT_THAT(read(query).changes, ElementsAre(own, source, all));
  query.destination.reset();
  EXPECT_THAT(read(query).changes, ElementsAre(own, other, source, all));
}

TEST_F(PathChangeStoreTest, ForgetsWhatIsOldOrTooMuch) {
  open(10 * PathChangeStore::kBytesOfEach);
  for (int i = 0; i < 30; ++i) write({change(kUtc + i, "10.0.0.1", "10.0.0.2")});
  PathChangeQuery query{0, kNever, "", {}, {}, 100};
  ASSERT_TRUE(ledger_->trim(10, kUtc + kMinute));
  EXPECT_EQ(read(query).changes.size(), 10U);
  EXPECT_EQ(read(query).changes.back().utc, kUtc + 29);
  ASSERT_TRUE(ledger_->trim(10, kUtc + 25 * kHour));
  EXPECT_THAT(read(query).changes, IsEmpty());
}

TEST_F(PathChangeStoreTest, TheQueueIsBounded) {
  open();
  EventQueue queue;
  const std::vector<PathChange> more(EventQueue::kMaxWaiting + 5,
                                     change(kUtc, "10.0.0.1", "10.0.0.2"));
  queue.add({}, {}, {}, {}, {}, more);
  EXPECT_EQ(queue.dropped(), 5U);
  ASSERT_TRUE(queue.due(0));
  queue.writeTo(*ledger_, 0);
  EXPECT_FALSE(queue.due(0));
  PathChangeQuery query{kUtc, kUtc + 1, "", {}, {}, 1};
  EXPECT_EQ(read(query).left_out, EventQueue::kMaxWaiting - 1);
}

}  // namespace
}  // namespace pingloom::controller::path_change_store_test
