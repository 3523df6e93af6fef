#include "controller/history/event_store.h"

#include <gtest/gtest.h>

#include "controller/history/event_queue.h"
#include "controller/history/event_reader.h"
#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::event_store_test {
namespace {

using test::ip;
using Kind = PresenceRecord::Kind;
using Status = PastPresence::Status;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
const IpAddress kA = ip("10.0.0.1");
const IpAddress kB = ip("fd00::2");

class EventStoreTest : public testing::Test {
 protected:
  EventStoreTest() { open(); }
  void open() {
    ledger_.reset();
    auto opened = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30}, kUtc);
    ASSERT_TRUE(opened) << opened.error().text();
    ledger_ = std::move(*opened);
  }
  void record(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence = {}) {
    const auto status = ledger_->record(events, presence);
    EXPECT_TRUE(status) << status.error().text();
  }
  FoundEvents found(const EventQuery& query) {
    const auto history = History::open(history_.place());
    EXPECT_TRUE(history) << history.error().text();
    auto read = readEvents((*history)->database(), query);
    EXPECT_TRUE(read) << read.error().text();
    return std::move(*read);
  }
  PastPresence presence(Nanos from, Nanos until) {
    const auto history = History::open(history_.place());
    EXPECT_TRUE(history);
    return readPresence((*history)->database(), from, until).value();
  }
  static EventQuery all(std::size_t limit = 100) {
    EventQuery query;
    query.from_utc = kUtc - kHour;
    query.until_utc = kUtc + kHour;
    query.limit = limit;
    return query;
  }
  static KeptEvent event(Nanos at, std::optional<IpAddress> source = kA,
                         std::optional<IpAddress> destination = kB) {
    return {at,          at - 5,         "mesh",           source,
            destination, PairState::kOk, PairState::kLoss, source && destination ? 1U : 99U};
  }

  test::TestHistory history_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(EventStoreTest, GivesBackWhatItGotAlsoAfterARestart) {
  const std::vector<KeptEvent> events = {event(kUtc), event(kUtc + 1, std::nullopt),
                                         event(kUtc + 2, kB, std::nullopt),
                                         event(kUtc + 3, std::nullopt, std::nullopt)};
  record(events);
  EXPECT_EQ(found(all()).events, events);
  open();
  EXPECT_EQ(found(all()).events, events);
}

TEST_F(EventStoreTest, OfAPairAreThoseThatMayConcernIt) {
  record({event(kUtc), event(kUtc + 1, std::nullopt), event(kUtc + 2, kB, kA),
          event(kUtc + 3, kB, std::nullopt), event(kUtc + 4, std::nullopt, std::nullopt)});
  EventQuery query = all();
  query.source = kA;
  query.destination = kB;
  std::vector<Nanos> times;
  for (const KeptEvent& each : found(query).events) times.push_back(each.utc - kUtc);
  EXPECT_EQ(times, (std::vector<Nanos>{0, 1, 4}));
  query = all();
  query.probe = "other";
  EXPECT_TRUE(found(query).events.empty());
  query = all();
  query.from_utc = kUtc + 1;
  query.until_utc = kUtc + 3;
  EXPECT_EQ(found(query).events.size(), 2U);
}

TEST_F(EventStoreTest, BeyondTheLimitTheNewestAreLeftAndAllAreCounted) {
  std::vector<KeptEvent> events;
  for (int i = 0; i < 10; ++i) events.push_back(event(kUtc + i * kMinute));
  events[1].to = PairState::kUnreachable;
  record(events);
  EventQuery query = all(3);
  query.bins = 4;  // of half an hour
  const FoundEvents read = found(query);
  EXPECT_EQ(read.events, (std::vector<KeptEvent>{events[7], events[8], events[9]}));
  EXPECT_EQ(read.left_out, 7U);
  ASSERT_EQ(read.bins.size(), 4U);
  EXPECT_EQ(read.bins[2].events, 10U);
  EXPECT_EQ(read.bins[2].worst, PairState::kUnreachable);
  EXPECT_EQ(read.bins[2].utc, events[1].utc);
  EXPECT_EQ(read.bins[2].pairs, 10U);
  EXPECT_EQ(read.bins[3].events, 0U);
}

TEST_F(EventStoreTest, TheWorstOfABinIsJudgedFirst) {
  std::vector<KeptEvent> events = {event(kUtc), event(kUtc + 1), event(kUtc + 2)};
  events[1].from = events[1].to = PairState::kOk;
  events[1].severity_from = Severity::kOk;
  events[1].severity_to = Severity::kSlow;
  events[2].to = PairState::kAgentDown;  // it is not judged any more
  record(events);
  EXPECT_EQ(found(all()).events, events);
  EventQuery query = all();
  query.bins = 1;
  const EventBin bin = found(query).bins.at(0);
  EXPECT_EQ(bin.severity, Severity::kSlow);
  EXPECT_EQ(bin.worst, PairState::kOk);
  EXPECT_EQ(bin.utc, kUtc + 1);
}

TEST_F(EventStoreTest, ForgetsWhatIsTooOldButNotWhoIsThere) {
  record({event(kUtc)}, {{kUtc, std::nullopt, Kind::kGone},
                         {kUtc + 1, kA, Kind::kCame},
                         {kUtc + 2, kB, Kind::kCame},
                         {kUtc + kMinute, kB, Kind::kGone}});
  ASSERT_TRUE(ledger_->trim(10, kUtc + 25 * kHour));
  EXPECT_TRUE(found(all()).events.empty());
  const Nanos later = kUtc + 25 * kHour;
  EXPECT_EQ(presence(later, later).at(kA, later, later - kMinute), Status::kThere);
  EXPECT_EQ(presence(later, later).at(kB, later, later - kMinute), Status::kGone);
}

TEST_F(EventStoreTest, KeepsNoMoreThanItsBound) {
  std::vector<KeptEvent> events(EventStore::kMaxEvents + 10, event(kUtc));
  events.back().utc = kUtc + 1;
  record(events);
  ASSERT_TRUE(ledger_->trim(10, kUtc));
  const FoundEvents read = found(all(1));
  EXPECT_EQ(read.left_out + 1, static_cast<std::uint64_t>(EventStore::kMaxEvents));
  EXPECT_EQ(read.events.back().utc, kUtc + 1);
}

TEST_F(EventStoreTest, KeepsLessWhereTheHistoryIsSmall) {
  ledger_.reset();
  auto opened = Ledger::open({history_.place(), 24 * kHour, 16ULL << 20}, kUtc);
  ASSERT_TRUE(opened) << opened.error().text();
  ledger_ = std::move(*opened);
  const std::uint64_t most = (16ULL << 20) / EventStore::kBytesOfEach;
  record(std::vector<KeptEvent>(most + 10, event(kUtc)));
  ASSERT_TRUE(ledger_->trim(10, kUtc));
  EXPECT_EQ(found(all(0)).left_out, most);
}

TEST_F(EventStoreTest, PresenceIsReadForAnyTime) {
  record({}, {{kUtc, std::nullopt, Kind::kGone},
              {kUtc + kMinute, kA, Kind::kCame},
              {kUtc + 2 * kMinute, kA, Kind::kGone},
              {kUtc + kHour, kB, Kind::kCame}});
  const auto status = [&](Nanos at) { return presence(at, at).at(kA, at, at - 10 * kSecond); };
  EXPECT_EQ(status(kUtc - 1), Status::kUnknown);
  EXPECT_EQ(status(kUtc + 1), Status::kNever);
  EXPECT_EQ(status(kUtc + kMinute + kSecond), Status::kNew);
  EXPECT_EQ(status(kUtc + 2 * kMinute - kSecond), Status::kThere);
  EXPECT_EQ(status(kUtc + 3 * kMinute), Status::kGone);
  EXPECT_EQ(status(kUtc + 2 * kHour), Status::kGone);
}

TEST_F(EventStoreTest, TheQueueCountsWhatItHasNoRoomFor) {
  EventQueue queue;
  queue.add(std::vector<KeptEvent>(EventQueue::kMaxWaiting + 3, event(kUtc)), {});
  EXPECT_EQ(queue.dropped(), 3U);
  EXPECT_TRUE(queue.due(0));
  queue.writeTo(*ledger_, 0);
  EXPECT_EQ(queue.written(), EventQueue::kMaxWaiting);
  EXPECT_FALSE(queue.due(0));
}

}  // namespace
}  // namespace pingloom::controller::event_store_test
