#include "probe/task_list.h"

#include <gtest/gtest.h>

namespace pingloom::probe::task_list_test {
namespace {

using AssignmentPtr = std::shared_ptr<const plan::Assignment>;

std::shared_ptr<plan::Assignment> assignmentOf(const char* name,
                                               std::initializer_list<std::uint32_t> hosts) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = name;
  made->source = IpAddress::fromV4(100);
  for (const std::uint32_t host : hosts) made->destinations.push_back(IpAddress::fromV4(host));
  return made;
}

class TaskListTest : public testing::Test {
 protected:
  WindowClock clock{1000 * kSecond};
  WindowQueue queue;
  TaskList tasks{ClockSource::kKernel, 7, clock, queue};
};

TEST_F(TaskListTest, StartsNewAssignmentsWithinASecond) {
  EXPECT_EQ(tasks.nextDue(), INT64_MAX);
  auto slow = assignmentOf("a", {1});
  slow->probe.interval = kHour;
  EXPECT_TRUE(tasks.replace({slow, assignmentOf("b", {1, 2})}, kSecond).empty());
  ASSERT_EQ(tasks.tasks().size(), 2U);
  EXPECT_LT(tasks.nextDue(), 2 * kSecond);
  EXPECT_EQ(tasks.nextClose(), INT64_MAX);
}

TEST_F(TaskListTest, PingsThatAreSkippedCountInTheirPairsWindow) {
  tasks.replace({assignmentOf("a", {1, 2})}, 0);  // every second
  const Nanos late = 10 * kSecond;
  std::vector<ProbeSchedule::Due> due;
  tasks.takeDue(0, late, 1, due, late);
  ASSERT_EQ(due.size(), 1U);
  tasks.countSkipped(0, due[0].target, late);
  OpenWindows& windows = tasks[0].windows;
  const std::uint64_t window = windows.open(late);
  const std::uint32_t skipped =
      windows.windowFor(0, window).skipped + windows.windowFor(1, window).skipped;
  EXPECT_EQ(skipped, tasks.skipped() + 1);
  EXPECT_GE(windows.windowFor(0, window).skipped, 8U);
  EXPECT_GE(windows.windowFor(1, window).skipped, 8U);
}

TEST_F(TaskListTest, SaysWhereTasksAndTargetsWent) {
  tasks.replace({assignmentOf("a", {1}), assignmentOf("b", {1, 2, 3}), assignmentOf("c", {4})}, 0);
  const auto moves = tasks.replace({assignmentOf("c", {4}), assignmentOf("b", {2, 3, 4})}, kSecond);
  ASSERT_EQ(moves.size(), 3U);
  EXPECT_EQ(moves[0].task, kGone);
  EXPECT_EQ(moves[1].task, 1U);
  EXPECT_EQ(moves[1].target(0), kGone);
  EXPECT_EQ(moves[1].target(2), 1U);
  EXPECT_EQ(moves[2].task, 0U);
  EXPECT_EQ(moves[2].target(0), 0U);
}

TEST_F(TaskListTest, TheSamePlanAgainChangesNothing) {
  const std::vector<AssignmentPtr> work = {assignmentOf("a", {1}), assignmentOf("b", {1, 2})};
  tasks.replace(work, 0);
  const auto moves = tasks.replace(work, kSecond);
  ASSERT_EQ(moves.size(), 2U);
  for (std::uint32_t task = 0; task < 2; ++task) {
    EXPECT_EQ(moves[task].task, task);
    EXPECT_EQ(moves[task].target(0), 0U);
  }
}

TEST_F(TaskListTest, AnUnchangedAssignmentKeepsItsTimeline) {
  tasks.replace({assignmentOf("a", {1, 2, 3})}, 0);
  std::vector<ProbeSchedule::Due> out;
  tasks[0].schedule.take(500 * kMillisecond, 1, out);
  const Nanos next = tasks.nextDue();
  auto other_timeout = assignmentOf("a", {1, 2, 3});
  other_timeout->probe.timeout = kSecond;
  tasks.replace({other_timeout}, 600 * kMillisecond);
  EXPECT_EQ(tasks.nextDue(), next);
}

TEST_F(TaskListTest, AnotherWindowLengthClosesWhatIsOpen) {
  tasks.replace({assignmentOf("a", {1})}, 0);
  const auto index = tasks[0].windows.open(0);
  ++tasks[0].windows.windowFor(0, index).sent;
  auto other = assignmentOf("a", {1});
  other->probe.window = kMinute;
  const auto moves = tasks.replace({other}, kSecond);
  EXPECT_EQ(moves[0].task, kGone);
  const auto closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].assignment->probe.window, 10 * kSecond);
  EXPECT_EQ(closed[0].pairs[0].sent, 0U) << "it had no verdict";
}

TEST_F(TaskListTest, SkippedSurvivesThePlan) {
  tasks.replace({assignmentOf("a", {1})}, 0);
  std::vector<ProbeSchedule::Due> out;
  tasks[0].schedule.take(10 * kSecond, 100, out);
  const auto skipped = tasks.skipped();
  EXPECT_GE(skipped, 8U);
  tasks.replace({assignmentOf("a", {1, 2})}, 10 * kSecond);
  EXPECT_EQ(tasks.skipped(), skipped);
  tasks.flush(11 * kSecond);
  EXPECT_EQ(tasks.skipped(), skipped);
  EXPECT_EQ(tasks.nextDue(), INT64_MAX);
}

std::shared_ptr<const Burst> burstTo(std::uint32_t host, std::uint32_t path = 0) {
  return makeBurst(*assignmentOf("a", {1, 2}), IpAddress::fromV4(host), path, 3, kMillisecond);
}

TEST_F(TaskListTest, ABurstIsPingsInTheirOrderAndThenNothing) {
  tasks.startBurst(burstTo(2), kSecond);
  EXPECT_EQ(tasks.nextDue(), kSecond) << "at once";
  std::vector<ProbeSchedule::Due> out;
  tasks[0].schedule.take(kSecond, 100, out);
  EXPECT_EQ(out.size(), 1U);
  tasks[0].schedule.take(kSecond + 10 * kMillisecond, 100, out);
  ASSERT_EQ(out.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out[i].target, i);
    EXPECT_EQ(out[i].due_mono, kSecond + i * kMillisecond);
  }
  EXPECT_EQ(tasks.nextDue(), INT64_MAX);
  EXPECT_EQ(tasks.nextClose(), INT64_MAX);
}

TEST_F(TaskListTest, ABurstsVerdictsAreReadOnePingAtATime) {
  EXPECT_TRUE(tasks.burstPings().empty());
  tasks.startBurst(burstTo(2), kSecond);
  EXPECT_TRUE(tasks.burstPings().empty());
  OpenWindows& windows = tasks[0].windows;
  const auto index = windows.open(kSecond);
  PairWindow& second = windows.windowFor(1, index);
  second.sent = second.received = 1;
  second.network.add(4000);
  second.rtt.add(9000);
  PairWindow& third = windows.windowFor(2, index);
  third.sent = third.lost = third.late = 1;
  const auto pings = tasks.burstPings();
  ASSERT_EQ(pings.size(), 2U);
  EXPECT_EQ(pings[0].sequence, 2U);
  EXPECT_EQ(pings[0].fate, PingFate::kReceived);
  EXPECT_EQ(pings[0].network, 4000U);
  EXPECT_EQ(pings[0].rtt, 9000U);
  EXPECT_FALSE(pings[0].responder);
  EXPECT_EQ(pings[1].sequence, 3U);
  EXPECT_EQ(pings[1].fate, PingFate::kLost);
  EXPECT_TRUE(pings[1].late);
}

TEST_F(TaskListTest, APlanChangeLeavesABurstAlone) {
  tasks.replace({assignmentOf("a", {1, 2}), assignmentOf("b", {1})}, 0);
  tasks.startBurst(burstTo(2), kSecond);
  ++tasks[2].windows.windowFor(0, tasks[2].windows.open(kSecond)).received;
  const auto moves = tasks.replace({assignmentOf("a", {1, 2, 3})}, 2 * kSecond);
  ASSERT_EQ(moves.size(), 3U);
  EXPECT_EQ(moves[0].task, 0U);
  EXPECT_EQ(moves[1].task, kGone);
  EXPECT_EQ(moves[2].task, 1U);
  EXPECT_EQ(moves[2].target(2), 2U);
  EXPECT_EQ(tasks[1].assignment->destinations.size(), 3U);
  EXPECT_EQ(tasks.burstPings().size(), 1U);
  const auto after = tasks.endBurst();
  EXPECT_EQ(after[0].task, 0U);
  EXPECT_EQ(after[1].task, kGone);
  EXPECT_EQ(tasks.tasks().size(), 1U);
  EXPECT_TRUE(tasks.burstPings().empty());
}

TEST_F(TaskListTest, ABurstIsNeverAWindow) {
  tasks.startBurst(burstTo(2), kSecond);
  ++tasks[0].windows.windowFor(0, tasks[0].windows.open(kSecond)).received;
  tasks.closeDue(1000 * kHour);
  tasks.flush(1000 * kHour);
  EXPECT_TRUE(queue.takeAll().empty());
  EXPECT_FALSE(tasks.hasBurst());
}

TEST_F(TaskListTest, CountsArrivalsInTheTaskThatPingsBackOnTheSamePath) {
  const IpAddress own = IpAddress::fromV4(100);
  const IpAddress peer = IpAddress::fromV4(2);
  auto paths = assignmentOf("a", {1, 2});
  paths->probe.paths = 2;
  tasks.replace({paths, assignmentOf("b", {2})}, 0);
  ASSERT_EQ(tasks.tasks().size(), 3U);
  wire::ProbeMessage ping;
  ping.flags = wire::kFlagCounted;
  ping.probe = wire::probeTag("a");
  ping.answer_label = 2;
  Nanos now = 0;
  for (int window = 0; window < 3; ++window, now += 10 * kSecond) {
    for (Task& task : tasks.tasks()) task.windows.open(now);
    ping.window = static_cast<std::uint32_t>(tasks[0].windows.open(now));
    tasks.countArrival(ping, peer, own, now);
    tasks.countArrival(ping, peer, own, now);
    // None of these is of a flow of this host.
    wire::ProbeMessage other_path = ping;
    other_path.answer_label = 3;
    tasks.countArrival(other_path, peer, own, now);
    tasks.countArrival(ping, IpAddress::fromV4(77), own, now);
    tasks.countArrival(ping, peer, IpAddress::fromV4(101), now);
    wire::ProbeMessage unmarked = ping;
    unmarked.flags = 0;
    tasks.countArrival(unmarked, peer, own, now);
    tasks.closeDue(now);
  }
  tasks.closeDue(now);
  tasks.closeDue(now + 10 * kSecond);
  std::vector<ClosedWindow> closed = queue.takeAll();
  ASSERT_EQ(closed.size(), 9U);
  for (const ClosedWindow& window : closed) {
    if (window.index == 100) continue;
    const bool counts = window.path == 2;
    EXPECT_EQ(window.pairs.back().inbound, counts ? 2U : 0U) << window.path;
    if (window.pairs.size() == 2) {
      EXPECT_EQ(window.pairs[0].inbound, 0U);
    }
  }
  EXPECT_EQ(closed[0].pairs[0].inbound, kInboundUnknown) << "the first window is not complete";
}

}  // namespace
}  // namespace pingloom::probe::task_list_test
