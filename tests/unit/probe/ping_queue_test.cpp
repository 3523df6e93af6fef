// Follows PINGs from their due time to the wire, without sockets or devices.
#include "probe/ping_queue.h"

#include <gtest/gtest.h>

namespace pingloom::probe::ping_queue_test {
namespace {

constexpr Nanos kInterval = 100 * kMillisecond;
constexpr Nanos kRetryAfter = kMillisecond;

Instant instantAt(Nanos mono) { return {mono, 1'800'000'000 * kSecond + mono}; }

std::shared_ptr<plan::Assignment> assignmentNamed(const char* name, Nanos timeout) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = name;
  made->probe.interval = kInterval;
  made->probe.timeout = timeout;
  for (std::uint32_t host = 1; host <= 100; ++host) {
    made->destinations.push_back(IpAddress::fromV4(host));
  }
  return made;
}

class PingQueueTest : public testing::Test {
 protected:
  PingQueueTest() {
    tasks.replace({assignmentNamed("short", 200 * kMillisecond), assignmentNamed("long", kSecond)},
                  0);
  }
  std::uint32_t open(const Ping& ping) {
    return queue.open(ping, ++last_nonce, instantAt(ping.due_mono))->id;
  }
  void add(const Ping& ping) { queue.add(ping, open(ping)); }
  std::vector<Ping> retried(Nanos now) {
    std::vector<Ping> pings;
    queue.retry(now, [&](const Ping& ping) { pings.push_back(ping); });
    return pings;
  }

  WindowClock clock{0};
  WindowQueue windows;
  TaskList tasks{ClockSource::kKernel, 1, clock, windows};
  StallWatch stalls;
  Exchanges exchanges{tasks, stalls, TickClock::nanoseconds(ClockSource::kKernel),
                      StallRule::kSpoils, 0};
  PingCounts counts;
  PingQueue queue{tasks, exchanges, stalls, counts, kRetryAfter};
  std::uint64_t last_nonce = 0;
};

TEST_F(PingQueueTest, ABatchLeavesWithOneT0AndCountsItsLateness) {
  const std::uint32_t first = open({0, 3, kSecond});
  queue.add({0, 3, kSecond}, first);
  add({0, 4, kSecond + 10});
  EXPECT_EQ(queue.room(), PingQueue::kBatch - 2);
  queue.stamp(instantAt(kSecond + 30));
  EXPECT_EQ(exchanges.find(first)->times.sent.mono, kSecond + 30);
  queue.finish(0);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.hasWaiting());
  EXPECT_EQ(queue.retryAt(), kNever);
  EXPECT_EQ(counts.sent, 2U);
  EXPECT_EQ(counts.skipped, 0U);
  EXPECT_EQ(counts.lateness.min(), 20U);
  EXPECT_EQ(counts.lateness.max(), 30U);
  EXPECT_EQ(exchanges.size(), 2U);
}

TEST_F(PingQueueTest, LatenessIsCountedFromTheDueTime) {
  add({0, 0, kSecond - 40});
  queue.stamp(instantAt(kSecond));
  queue.finish(0);
  EXPECT_EQ(counts.lateness.max(), 40U);
}

TEST_F(PingQueueTest, StallsAreWatchedUntilTheLongestTimeout) {
  add({0, 0, kSecond});
  add({1, 0, kSecond});
  queue.stamp(instantAt(kSecond));
  stalls.tick(kSecond + 300 * kMillisecond);
  EXPECT_NE(stalls.nextTick(), kNever) << "the long timeout is not over";
  stalls.tick(2 * kSecond);
  EXPECT_EQ(stalls.nextTick(), kNever);
}

TEST_F(PingQueueTest, TheUnsentTailWaitsWithoutItsExchanges) {
  for (std::uint32_t target = 0; target < 5; ++target) add({0, target, kSecond});
  queue.stamp(instantAt(kSecond));
  queue.finish(2);
  EXPECT_EQ(counts.sent, 3U);
  EXPECT_EQ(counts.lateness.count(), 3U);
  EXPECT_EQ(exchanges.size(), 3U);
  EXPECT_TRUE(queue.hasWaiting());
  EXPECT_EQ(queue.retryAt(), kSecond + kRetryAfter);
  const auto again = retried(queue.retryAt());
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].target, 3U);
  EXPECT_EQ(again[1].target, 4U);
  EXPECT_EQ(again[1].due_mono, kSecond) << "it is as late as it was";
  EXPECT_FALSE(queue.hasWaiting());
}

TEST_F(PingQueueTest, OneThatFindsNoRoomAgainWaitsAgain) {
  const Ping ping{0, 7, kSecond};
  queue.wait(ping, open(ping), kSecond);
  EXPECT_EQ(exchanges.size(), 0U);
  const Nanos later = kSecond + kRetryAfter;
  queue.retry(later, [&](const Ping& again) { queue.wait(again, open(again), later); });
  EXPECT_EQ(queue.retryAt(), later + kRetryAfter);
  EXPECT_EQ(retried(queue.retryAt()).size(), 1U);
  EXPECT_EQ(counts.skipped, 0U);
}

TEST_F(PingQueueTest, AWholeIntervalLateSkipsTheRound) {
  const Ping early{0, 1, kSecond};
  const Ping late{0, 2, kSecond + 1};
  queue.wait(early, open(early), kSecond);
  queue.wait(late, open(late), kSecond);
  const auto again = retried(kSecond + kInterval);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].target, 2U);
  EXPECT_EQ(counts.skipped, 1U);
  EXPECT_EQ(counts.sent, 0U);
}

TEST_F(PingQueueTest, ItsBoundSkipsTheRest) {
  for (std::uint32_t i = 0; i < PingQueue::kMaxWaiting + 3; ++i) {
    const Ping ping{0, i % 100, kSecond};
    queue.wait(ping, open(ping), kSecond);
  }
  EXPECT_EQ(counts.skipped, 3U);
  EXPECT_EQ(exchanges.size(), 0U);
  EXPECT_EQ(retried(kSecond).size(), PingQueue::kMaxWaiting);
}

TEST_F(PingQueueTest, TasksThatAreGoneTakeTheirPingsAlong) {
  for (const std::uint32_t task : {0U, 1U, 0U}) {
    const Ping ping{task, 0, kSecond};
    queue.wait(ping, open(ping), kSecond);
  }
  queue.skipFrom(1);
  EXPECT_EQ(counts.skipped, 1U);
  EXPECT_TRUE(queue.hasWaiting());
  queue.skipFrom(0);
  EXPECT_EQ(counts.skipped, 3U);
  EXPECT_EQ(queue.retryAt(), kNever) << "nothing is left to wake up for";
}

TEST_F(PingQueueTest, AFullExchangeTableSkipsThePing) {
  for (std::uint32_t i = 0; i < ExchangeTable::kMax; ++i) {
    ASSERT_NE(queue.open({0, i % 100, kSecond}, i, instantAt(kSecond)), nullptr);
  }
  EXPECT_EQ(queue.open({0, 0, kSecond}, 1, instantAt(kSecond)), nullptr);
  EXPECT_EQ(counts.skipped, 1U);
}

}  // namespace
}  // namespace pingloom::probe::ping_queue_test
