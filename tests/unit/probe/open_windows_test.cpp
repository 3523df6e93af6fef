#include "probe/open_windows.h"

#include <gtest/gtest.h>

namespace pingloom::probe::open_windows_test {
namespace {

constexpr Nanos kWindow = 10 * kSecond;
constexpr Nanos kTimeout = 500 * kMillisecond;
constexpr Nanos kDrain = kTimeout + kWindowGrace;
constexpr Nanos kOffset = 1'000'000 * kSecond;  // a multiple of the window
constexpr std::uint64_t kBase = 100'000;        // the window at monotonic zero

std::shared_ptr<plan::Assignment> assignmentTo(std::initializer_list<std::uint32_t> hosts) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "mesh";
  made->probe.window = kWindow;
  made->probe.timeout = kTimeout;
  for (const std::uint32_t host : hosts) made->destinations.push_back(IpAddress::fromV4(host));
  return made;
}

class OpenWindowsTest : public testing::Test {
 protected:
  void send(std::uint32_t target, Nanos now) {
    const auto index = windows.open(now);
    ++windows.windowFor(target, index).sent;
    ++windows.windowFor(target, index).received;
  }

  WindowClock clock{kOffset};
  WindowQueue queue;
  OpenWindows windows{assignmentTo({1, 2, 3}), ClockSource::kKernel, clock, queue};
};

TEST_F(OpenWindowsTest, AnExchangeBelongsToTheWindowItsPingWasSentIn) {
  EXPECT_EQ(windows.open(0), kBase);
  EXPECT_EQ(windows.open(kWindow - 1), kBase);
  EXPECT_EQ(windows.open(kWindow), kBase + 1) << "exactly at the boundary: the next";
  ++windows.windowFor(1, kBase).received;  // its reply arrives in the next window
  windows.closeDue(kWindow + kDrain);
  auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].index, kBase);
  EXPECT_EQ(closed[0].pairs.size(), 3U) << "all pairs, with and without pings";
  EXPECT_EQ(closed[0].pairs[1].received, 1U);
}

TEST_F(OpenWindowsTest, ClosesAfterTimeoutAndGrace) {
  send(0, 0);
  EXPECT_EQ(windows.nextClose(), kWindow);
  windows.closeDue(kWindow);
  EXPECT_EQ(windows.nextClose(), kWindow + kDrain);
  windows.closeDue(kWindow + kDrain - 1);
  EXPECT_TRUE(queue.takeAll().empty());
  windows.closeDue(kWindow + kDrain);
  EXPECT_EQ(queue.takeAll().size(), 1U);
  EXPECT_EQ(windows.nextClose(), kNever) << "nothing was sent since";
}

TEST_F(OpenWindowsTest, LateAndDuplicateOfAClosedWindowCountInTheCurrentOne) {
  send(0, 0);
  send(0, kWindow);
  windows.closeDue(kWindow + kDrain);
  EXPECT_FALSE(windows.isOpen(kBase));
  ++windows.windowFor(0, kBase).late;
  EXPECT_EQ(windows.windowFor(0, kBase + 1).late, 1U);
}

TEST_F(OpenWindowsTest, NothingOpenTakesCountsWithoutHarm) {
  ++windows.windowFor(2, 5).duplicate;
  windows.flush(0);
  EXPECT_TRUE(queue.takeAll().empty());
}

TEST_F(OpenWindowsTest, LongTimeoutsKeepManyWindowsOpen) {
  auto slow = assignmentTo({1});
  slow->probe.window = kSecond;
  slow->probe.timeout = 10 * kSecond;
  OpenWindows many(slow, ClockSource::kKernel, clock, queue);
  for (Nanos now = 0; now < 30 * kSecond; now += 100 * kMillisecond) {
    many.closeDue(now);
    const auto index = many.open(now);
    ++many.windowFor(0, index).sent;
    // The verdict comes when the ping expires, and finds its window.
    if (index >= kBase * 10 + 10) {
      ASSERT_TRUE(many.isOpen(index - 10));
      ++many.windowFor(0, index - 10).lost;
    }
  }
  const auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 18U) << "window 18 was over at 19 s and drains until 30 s";
  for (std::size_t i = 0; i < closed.size(); ++i) {
    EXPECT_EQ(closed[i].index, kBase * 10 + i);
    EXPECT_EQ(closed[i].pairs[0].sent, 10U);
    EXPECT_EQ(closed[i].pairs[0].lost, 10U);
  }
}

TEST_F(OpenWindowsTest, IndexesNeverGoBackWhenTheClockDoes) {
  EXPECT_EQ(windows.open(25 * kSecond), kBase + 2);
  clock.setOffset(kOffset - 7 * kSecond);
  EXPECT_EQ(windows.open(26 * kSecond), kBase + 2) << "held until the clock has caught up";
  EXPECT_EQ(windows.open(37 * kSecond), kBase + 3);
  clock.setOffset(kOffset - kHour);
  EXPECT_EQ(windows.open(38 * kSecond), kBase + 3);
  EXPECT_EQ(windows.nextClose(), 26 * kSecond + 10 * kSecond + 1 * kSecond + kDrain)
      << "the one before still drains first";
  std::uint64_t last = kBase + 3;
  std::size_t windows_made = 0;
  for (Nanos now = 38 * kSecond; now < 238 * kSecond; now += kSecond) {
    const auto index = windows.open(now);
    EXPECT_GE(index, last);
    EXPECT_LE(index, last + 1);
    windows_made += index != last ? 1 : 0;
    last = index;
  }
  EXPECT_EQ(windows_made, 10U) << "data flow on, in windows of twice the length";
  clock.setOffset(kOffset + kHour);
  EXPECT_EQ(windows.open(238 * kSecond), kBase + 360 + 23) << "a jump ahead is followed at once";
}

TEST_F(OpenWindowsTest, MemoryGoesRound) {
  send(0, 0);
  windows.windowFor(0, kBase).rtt.add(5);
  windows.closeDue(kWindow);
  windows.closeDue(kWindow + kDrain);
  auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 1U);
  const PairWindow* memory = closed[0].pairs.data();
  queue.recycle(std::move(closed[0].pairs));
  const auto index = windows.open(2 * kWindow);
  EXPECT_EQ(&windows.windowFor(0, index), memory);
  EXPECT_EQ(windows.windowFor(0, index).sent, 0U);
  EXPECT_EQ(windows.windowFor(0, index).rtt.count(), 0U);
}

TEST_F(OpenWindowsTest, FlushHandsOverWhatHasAVerdict) {
  send(0, 0);
  ++windows.windowFor(0, kBase).sent;  // still in flight
  send(1, kWindow);
  windows.flush(kWindow + 1);
  const auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 2U);
  EXPECT_EQ(closed[0].pairs[0].sent, 1U);
  EXPECT_EQ(closed[1].pairs[1].sent, 1U);
  EXPECT_EQ(windows.nextClose(), kNever);
  EXPECT_EQ(windows.open(kWindow + 2), kBase + 2) << "a closed index is not used again";
}

TEST_F(OpenWindowsTest, APlanChangeCarriesOverPairsThatStay) {
  send(0, 0);
  send(2, 0);
  send(2, kWindow);
  const auto after = assignmentTo({2, 3, 4});
  ASSERT_TRUE(windows.keeps(*after));
  windows.reassign(after, renumber(assignmentTo({1, 2, 3})->destinations, after->destinations));
  EXPECT_EQ(windows.windowFor(1, kBase).sent, 1U) << "host 3 was number 2";
  EXPECT_EQ(windows.windowFor(0, kBase).sent, 0U);
  EXPECT_EQ(windows.windowFor(2, kBase).sent, 0U) << "host 4 is new";
  windows.closeDue(kWindow + kDrain);
  const auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].assignment, after);
  EXPECT_EQ(closed[0].pairs[1].sent, 1U);
}

TEST_F(OpenWindowsTest, AShorterTimeoutDoesNotCloseOverOldExchanges) {
  auto slow = assignmentTo({1});
  slow->probe.timeout = 5 * kSecond;
  OpenWindows held(slow, ClockSource::kKernel, clock, queue);
  held.open(0);
  const auto fast = assignmentTo({1});
  held.reassign(fast, std::vector<std::uint32_t>{0});
  held.closeDue(kWindow);
  EXPECT_EQ(held.nextClose(), kWindow + 5 * kSecond + kWindowGrace);
}

TEST_F(OpenWindowsTest, OtherWindowLengthsCannotGoOn) {
  auto other = assignmentTo({1, 2, 3});
  other->probe.window = 5 * kSecond;
  EXPECT_FALSE(windows.keeps(*other));
  other = assignmentTo({1, 2, 3});
  other->probe.interval = 5 * kSecond;
  EXPECT_TRUE(windows.keeps(*other));
}

TEST(Renumber, FollowsAddresses) {
  const auto before = assignmentTo({1, 2, 5, 9})->destinations;
  const auto after = assignmentTo({0, 2, 3, 9, 10})->destinations;
  EXPECT_EQ(renumber(before, after), (std::vector<std::uint32_t>{kGone, 1, kGone, 3}));
  EXPECT_TRUE(renumber({}, after).empty());
}

}  // namespace
}  // namespace pingloom::probe::open_windows_test
