#include "probe/path_tracer.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

namespace pingloom::probe::path_tracer_test {
namespace {

IpAddress router(std::uint32_t number) { return IpAddress::fromV4(0x0A020000 + number); }

std::vector<TracedFlow> flowsOf(std::uint32_t count) {
  std::vector<TracedFlow> flows;
  for (std::uint32_t i = 0; i < count; ++i) flows.push_back({0, i, 1000 + i});
  return flows;
}

// A fabric with routers 1 .. `length` before every destination. Answers take a millisecond.
struct Fabric {
  std::size_t length = 3;
  std::function<bool(const TracePacket&)> drops = [](const TracePacket&) { return false; };

  // Runs until `end` and returns what the tracer found.
  std::vector<FinishedTrace> run(PathTracer& tracer, Nanos end) {
    std::vector<FinishedTrace> found;
    while (true) {
      const Nanos answer = waiting.empty() ? kNever : waiting.begin()->first;
      const Nanos wake = std::min(answer, tracer.nextWake());
      if (wake > end) break;
      now = std::max(now, wake);
      if (answer <= now) {
        const TracePacket packet = waiting.begin()->second;
        waiting.erase(waiting.begin());
        if (packet.hop_limit > length) {
          EXPECT_TRUE(tracer.answered(packet.nonce, now));
        } else {
          EXPECT_TRUE(tracer.expired(packet.nonce, router(packet.hop_limit), now));
        }
      }
      while (const auto packet = tracer.next(now)) {
        ++sent;
        times.push_back(now);
        if (!drops(*packet)) waiting.emplace(now + kMillisecond, *packet);
      }
      for (FinishedTrace& trace : tracer.takeFinished()) found.push_back(std::move(trace));
    }
    now = end;
    return found;
  }

  Nanos now = 0;
  int sent = 0;
  std::vector<Nanos> times;
  std::multimap<Nanos, TracePacket> waiting;
};

TEST(PathTracer, FindsTheRoutersInOrder) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  Fabric fabric;
  const auto found = fabric.run(tracer, 5 * kSecond);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].end, PathEnd::kReached);
  ASSERT_EQ(found[0].hops.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[0].hops[i].router, router(i + 1));
    EXPECT_EQ(found[0].hops[i].rtt, kMillisecond);
  }
  EXPECT_EQ(found[0].destination_rtt, kMillisecond);
  EXPECT_EQ(fabric.sent, 4);
}

TEST(PathTracer, StaysWithinItsBudgetAndTracesEveryFlow) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(100));
  Fabric fabric;
  const auto found = fabric.run(tracer, 30 * kSecond);
  EXPECT_EQ(found.size(), 100U);
  EXPECT_EQ(fabric.sent, 400);
  for (std::size_t i = 20; i < fabric.times.size(); ++i) {
    EXPECT_GE(fabric.times[i] - fabric.times[i - 20], kSecond) << i;
  }
  EXPECT_LE(fabric.times.back(), 21 * kSecond);
}

TEST(PathTracer, TracersShareABudget) {
  TracePace pace;
  PathTracer one(pace);
  PathTracer two(pace);
  one.setFlows(flowsOf(1));
  two.setFlows(flowsOf(1));
  EXPECT_TRUE(one.next(0));
  EXPECT_FALSE(two.next(0));
  EXPECT_TRUE(two.next(TraceBudget::kGap));
}

TEST(PathTracer, TransportsShareTheBudgetOfAnAgent) {
  const auto budget = std::make_shared<TraceBudget>();
  TracePace udp(budget);
  TracePace rdma(budget);
  PathTracer one(udp);
  one.setFlows(flowsOf(30));
  EXPECT_TRUE(one.next(0));
  EXPECT_TRUE(one.next(TraceBudget::kGap)) << "the other transport has nothing to trace";
  {
    PathTracer two(rdma);
    two.setFlows(flowsOf(30));
    Nanos now = 2 * TraceBudget::kGap;
    int sent = 0;
    for (const Nanos end = now + kSecond; now < end; now += kMillisecond) {
      for (PathTracer* tracer : {&one, &two}) {
        while (tracer->next(now)) ++sent;
      }
    }
    EXPECT_NEAR(sent, 20, 1) << "both together";
  }
  EXPECT_TRUE(one.next(10 * kSecond));
  EXPECT_FALSE(one.next(10 * kSecond));
  EXPECT_TRUE(one.next(10 * kSecond + TraceBudget::kGap)) << "the other one is gone";
}

TEST(PathTracer, TracesAgainAfterThePeriod) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(5));
  Fabric fabric;
  EXPECT_EQ(fabric.run(tracer, kMinute).size(), 5U);
  EXPECT_EQ(fabric.run(tracer, PathTracer::kPeriod - kSecond).size(), 0U);
  EXPECT_EQ(fabric.run(tracer, PathTracer::kPeriod + 10 * kSecond).size(), 5U);
}

TEST(PathTracer, SkipsASilentRouter) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  Fabric fabric;
  fabric.drops = [](const TracePacket& packet) { return packet.hop_limit == 2; };
  const auto found = fabric.run(tracer, 20 * kSecond);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].end, PathEnd::kReached);
  ASSERT_EQ(found[0].hops.size(), 3U);
  EXPECT_FALSE(found[0].hops[1].isKnown());
  EXPECT_EQ(found[0].hops[2].router, router(3));
  EXPECT_EQ(fabric.sent, 3 + PathTracer::kTries);
}

TEST(PathTracer, TriesALostPacketAgain) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  Fabric fabric;
  int left = 2;
  fabric.drops = [&](const TracePacket& packet) { return packet.hop_limit == 1 && left-- > 0; };
  const auto found = fabric.run(tracer, 20 * kSecond);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].hops.size(), 3U);
  EXPECT_TRUE(found[0].hops[0].isKnown());
}

TEST(PathTracer, EndsBehindTheLastRouterThatAnswers) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  Fabric fabric;
  fabric.drops = [](const TracePacket& packet) { return packet.hop_limit > 2; };
  const auto found = fabric.run(tracer, kMinute);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].end, PathEnd::kSilent);
  EXPECT_EQ(found[0].hops.size(), 2U);
  EXPECT_EQ(fabric.sent, 2 + static_cast<int>(PathTracer::kMaxSilent) * PathTracer::kTries);
}

TEST(PathTracer, EndsInALoopAndBeforeTheHopLimitEnds) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  std::vector<FinishedTrace> found;
  Nanos now = 0;
  for (int i = 0; found.empty() && i < 100; ++i, now += kSecond / 10) {
    const auto packet = tracer.next(now);
    ASSERT_TRUE(packet);
    tracer.expired(packet->nonce, router(packet->hop_limit % 2), now);
    found = tracer.takeFinished();
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].end, PathEnd::kLoop);
  EXPECT_EQ(found[0].hops.size(), 5U);

  PathTracer other(pace);
  other.setFlows(flowsOf(1));
  Fabric fabric;
  fabric.now = now;
  fabric.length = 1000;
  const auto endless = fabric.run(other, now + kMinute);
  ASSERT_EQ(endless.size(), 1U);
  EXPECT_EQ(endless[0].end, PathEnd::kTooLong);
  EXPECT_EQ(endless[0].hops.size(), kMaxPathHops);
}

TEST(PathTracer, IgnoresAnswersToOtherPackets) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  const auto packet = tracer.next(0);
  ASSERT_TRUE(packet);
  EXPECT_FALSE(tracer.expired(packet->nonce + 1, router(9), kMillisecond));
  EXPECT_FALSE(tracer.answered(packet->nonce + 1, kMillisecond));
  EXPECT_TRUE(tracer.expired(packet->nonce, router(1), kMillisecond));
  EXPECT_FALSE(tracer.expired(packet->nonce, router(1), kMillisecond)) << "a duplicate";
}

TEST(PathTracer, TracesUrgentFlowsBeforeTheirTurn) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(50));
  tracer.traceSoon(40, 0);
  tracer.traceSoon(40, 0);
  tracer.traceSoon(50, 0);  // there is none
  Fabric fabric;
  const auto found = fabric.run(tracer, kMinute);
  ASSERT_EQ(found.size(), 51U);
  EXPECT_EQ(found[0].flow.target, 40U);
}

TEST(PathTracer, AFlowHasOneTraceAtATime) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(2));
  ASSERT_TRUE(tracer.next(0)) << "flow 0 has its turn";
  EXPECT_FALSE(tracer.traceSoon(0, 0)) << "its trace has begun";
  EXPECT_TRUE(tracer.traceSoon(1, 0));
  EXPECT_FALSE(tracer.traceSoon(1, kMinute)) << "its trace waits";
  Fabric fabric;
  auto found = fabric.run(tracer, kMinute);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].flow.target, 1U);
  EXPECT_EQ(found[1].flow.target, 0U) << "the first packet of its trace was lost";
  EXPECT_TRUE(tracer.traceSoon(0, 2 * kMinute));
  EXPECT_EQ(fabric.run(tracer, 3 * kMinute).size(), 1U);
  EXPECT_EQ(fabric.run(tracer, PathTracer::kPeriod + kMinute).size(), 2U);
}

TEST(PathTracer, UrgentFlowsAndOthersTakeTurns) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(50));
  for (std::size_t i = 40; i < 50; ++i) tracer.traceSoon(i, 0);
  Fabric fabric;
  const auto found = fabric.run(tracer, 10 * kSecond);
  ASSERT_GT(found.size(), 20U);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(found[2 * i].flow.target, 40 + i);
    EXPECT_EQ(found[2 * i + 1].flow.target, i);
  }
}

TEST(PathTracer, DropsATraceWhosePacketCannotBeSent) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(2));
  const auto packet = tracer.next(0);
  ASSERT_TRUE(packet);
  tracer.cancel(packet->nonce);
  EXPECT_FALSE(tracer.answered(packet->nonce, kMillisecond));
  const auto other = tracer.next(TraceBudget::kGap);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->target, 1U);
  EXPECT_TRUE(tracer.takeFinished().empty());
}

TEST(PathTracer, KeepsTheTurnsOfFlowsThatStay) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(5));
  Fabric fabric;
  EXPECT_EQ(fabric.run(tracer, 10 * kSecond).size(), 5U);
  tracer.setFlows(flowsOf(7));
  const auto found = fabric.run(tracer, kMinute);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].flow.target, 5U);
  EXPECT_EQ(found[1].flow.target, 6U);
  tracer.setFlows({});
  EXPECT_EQ(tracer.nextWake(), kNever);
}

TEST(PathTracer, BeginsATraceAgainThatAPlanChangeInterrupts) {
  TracePace pace;
  PathTracer tracer(pace);
  tracer.setFlows(flowsOf(1));
  ASSERT_TRUE(tracer.next(0));
  tracer.setFlows(flowsOf(2));
  Fabric fabric;
  EXPECT_EQ(fabric.run(tracer, kMinute).size(), 2U);
}

}  // namespace
}  // namespace pingloom::probe::path_tracer_test
