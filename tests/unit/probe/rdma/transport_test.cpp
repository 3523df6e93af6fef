// Tests the RDMA transport on devices in memory: everything except the wire.
#include "probe/rdma/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include "memory_fabric.h"
#include "unit/eventually.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::rdma_ud::transport_test {
namespace {

using test::eventually;

IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x0A000000 + number); }

struct Agent {
  Agent(MemoryFabric& memory, std::uint32_t number) : fabric(memory), address(host(number)) {
    context.incarnation = number;
    context.clock = &clock;
    context.windows = &queue;
    context.open_device = [this](const IpAddress& at) { return fabric.open(at); };
    context.endpoints_changed = [this] { ++changes; };
    transport = std::move(*makeTransport(context));
  }
  // Pings `to` every 10 ms on `paths` paths. With an empty list the agent only answers.
  void probe(std::vector<IpAddress> to, std::uint32_t paths = 1, std::uint32_t payload = 64) {
    assignment = std::make_shared<plan::Assignment>();
    assignment->probe.name = "mesh";
    assignment->probe.protocol = Protocol::kRdma;
    assignment->probe.interval = 10 * kMillisecond;
    assignment->probe.timeout = timeout;
    assignment->probe.window = kHour;
    assignment->probe.paths = paths;
    assignment->probe.payload = payload;
    assignment->source = address;
    assignment->destinations = std::move(to);
    Work work;
    if (!assignment->destinations.empty()) work.assignments.push_back(assignment);
    work.own = {address};
    transport->setWork(std::move(work));
  }
  std::uint64_t sent() { return transport->counters().pings_sent; }
  std::uint64_t answered() { return transport->counters().pings_answered; }
  std::uint64_t dropped(DropReason reason) {
    return transport->counters().dropped[static_cast<std::size_t>(reason)];
  }
  // Stops probing and returns everything measured so far, with a window for each device and path.
  // If the test ran across the boundary of a window, both windows add up.
  std::vector<ClosedWindow> flush() {
    transport->flush();
    std::vector<ClosedWindow> sums;
    for (ClosedWindow& window : queue.takeAll()) {
      const auto same = std::find_if(sums.begin(), sums.end(), [&](const ClosedWindow& sum) {
        return sum.path == window.path && sum.device == window.device;
      });
      if (same == sums.end()) {
        sums.push_back(std::move(window));
        continue;
      }
      for (std::size_t i = 0; i < window.pairs.size(); ++i) {
        same->pairs[i].addCounts(window.pairs[i]);
        same->pairs[i].addTimes(window.pairs[i]);
      }
    }
    return sums;
  }

  MemoryFabric& fabric;
  IpAddress address;
  Nanos timeout = 200 * kMillisecond;
  std::atomic<int> changes = 0;
  std::shared_ptr<plan::Assignment> assignment;
  AgentContext context;
  WindowClock clock{utcNow() - monotonicNow()};
  WindowQueue queue;
  std::unique_ptr<Transport> transport;
};

// Acts as the controller: collects the endpoints and gives the table to all agents.
void introduce(const std::vector<Agent*>& agents) {
  auto table = std::make_shared<plan::EndpointTable>();
  for (Agent* agent : agents) {
    EXPECT_TRUE(eventually([&] { return !agent->transport->endpoints().empty(); }));
    for (plan::Endpoint& made : agent->transport->endpoints()) (*table)[made.address] = made;
  }
  for (Agent* agent : agents) agent->transport->setEndpoints(table);
}

PairWindow only(std::vector<ClosedWindow> windows) {
  EXPECT_EQ(windows.size(), 1U);
  return windows.empty() ? PairWindow{} : std::move(windows[0].pairs.at(0));
}

// If the machine takes the processor away at the wrong moment, it looks as if the clock was set.
std::uint32_t anomalies(const PairWindow& pair) {
  return std::accumulate(pair.anomalous.begin(), pair.anomalous.end(), 0U);
}

// The PONG that would tell of the last exchange before a flush has not come.
void expectOnlyTheLastWithoutSplit(const PairWindow& pair) {
  EXPECT_LE(pair.ack_lost, 1U);
  EXPECT_EQ(pair.responder.count(), pair.received - pair.ack_lost - anomalies(pair));
  EXPECT_EQ(pair.network.count(), pair.responder.count());
}

TEST(RdmaTransport, PingsAndAnswers) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 20; }));
  const auto windows = one.flush();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].device, "memory");
  EXPECT_EQ(windows[0].clock, ClockSource::kKernel);
  EXPECT_EQ(windows[0].path, 0U);
  const PairWindow& pair = windows[0].pairs[0];
  EXPECT_GE(pair.received, 15U);
  EXPECT_EQ(pair.sent, pair.received + pair.lost);
  EXPECT_EQ(pair.lost, 0U);
  expectOnlyTheLastWithoutSplit(pair);
  EXPECT_GT(pair.network.count(), 0U);
  EXPECT_EQ(one.changes, 1);
}

TEST(RdmaTransport, LaterPongsAreAsGoodAsAcks) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 2);
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 60; }));
  const auto windows = one.flush();
  ASSERT_EQ(windows.size(), 2U);
  for (const ClosedWindow& window : windows) {
    const PairWindow& pair = window.pairs[0];
    EXPECT_GE(pair.received, 20U);
    expectOnlyTheLastWithoutSplit(pair);
  }
  const auto answers = [&] {
    const std::lock_guard lock(fabric.mutex);
    return static_cast<std::uint64_t>(fabric.answers[1] + fabric.answers[2]);
  };
  // A machine that is late with a PING for a second makes an ACK, so a few are allowed for.
  EXPECT_LT(answers(), two.answered() + 20);
  EXPECT_TRUE(eventually([&] { return answers() >= two.answered() + 2; }))
      << "the last exchange of each path is acknowledged when no PING follows";
}

TEST(RdmaTransport, LostPongsLeaveTheSplitOfThoseThatArrived) {
  MemoryFabric fabric;
  fabric.pongs_of_which_one_arrives = 4;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 100; }));
  const PairWindow pair = only(one.flush());
  EXPECT_GE(pair.received, 20U);
  expectOnlyTheLastWithoutSplit(pair);
}

TEST(RdmaTransport, EachPathIsARowOfItsOwn) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 3);
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 30; }));
  std::vector<std::uint32_t> paths;
  for (const ClosedWindow& window : one.flush()) {
    paths.push_back(window.path);
    EXPECT_GT(window.pairs[0].received, 0U) << window.path;
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(RdmaTransport, AnswersTakeThePathOfTheirPing) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 3);
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 30; }));
  one.flush();
  const std::lock_guard lock(fabric.mutex);
  ASSERT_EQ(fabric.answers.size(), 3U);
  for (const auto& [label, count] : fabric.answers) {
    EXPECT_TRUE(label >= 1 && label <= 3) << label;
    EXPECT_GT(count, 5) << label;
  }
}

TEST(RdmaTransport, AnswersWithoutALabelThatNoPlanHas) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  one.probe({});
  ASSERT_TRUE(eventually([&] { return !one.transport->endpoints().empty(); }));
  const auto to = one.transport->endpoints()[0];
  MemoryEndpoint stranger(fabric, host(9));
  wire::ProbeMessage ping;
  ping.type = wire::ProbeType::kPing;
  ping.length = wire::kPingPaddedBytes;
  ping.q_key = stranger.address().q_key;
  ping.answer_label = plan::kMaxPaths + 1;
  std::vector<std::uint8_t> bytes(wire::kPingPaddedBytes);
  wire::write(ping, bytes);
  rdma::UdMessage message;
  message.path.gid.bytes = to.gid;
  message.qpn = to.qpn;
  message.q_key = to.q_key;
  message.payload = bytes;
  stranger.post(message);
  stranger.flush();
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(fabric.mutex);
    return fabric.answers[0] == 2;
  }));
  const std::lock_guard lock(fabric.mutex);
  EXPECT_EQ(fabric.answers.size(), 1U);
}

TEST(RdmaTransport, APingThatIsLongerThanThePathMtuIsAMisfit) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 1, 1025);
  two.probe({});
  introduce({&one, &two});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const PairWindow own = only(one.flush());
  EXPECT_GT(own.misfit, 0U) << "its own MTU is 1024";
  EXPECT_EQ(own.sent, own.misfit);
  EXPECT_EQ(own.unreachable, own.misfit);
  EXPECT_EQ(one.sent(), 0U);
}

TEST(RdmaTransport, ThePeersMtuCountsToo) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 1, 600);
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 1; }));
  auto table = std::make_shared<plan::EndpointTable>();
  for (const plan::Endpoint& made : two.transport->endpoints()) (*table)[made.address] = made;
  EXPECT_EQ(table->at(host(2)).mtu, 1024U);
  table->at(host(2)).mtu = 512;
  one.transport->setEndpoints(table);
  const std::uint64_t sent = one.sent();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GT(only(one.flush()).misfit, 0U);
  EXPECT_EQ(one.sent(), sent);
}

TEST(RdmaTransport, ATargetWithoutAnEndpointIsUnreachableOnceThatIsKnown) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  one.probe({host(2)});
  ASSERT_TRUE(eventually([&] { return one.transport->counters().pings_skipped >= 3; }))
      << "nobody has said yet who is there";
  introduce({&one});
  // A busy machine makes rounds late, and late rounds are skipped too, but not ten in a row.
  EXPECT_TRUE(eventually([&] {
    const auto skipped = one.transport->counters().pings_skipped;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return one.transport->counters().pings_skipped <= skipped + 1;
  }));
  const PairWindow pair = only(one.flush());
  EXPECT_GT(pair.unreachable, 0U);
  EXPECT_EQ(pair.sent, pair.unreachable);
  EXPECT_EQ(one.sent(), 0U);
}

TEST(RdmaTransport, WithoutADeviceItsPingsAreUnreachableAndItTriesAgain) {
  MemoryFabric fabric;
  fabric.refused[host(1)] = "no such device";
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&two});
  one.transport->setEndpoints(std::make_shared<plan::EndpointTable>());
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(fabric.mutex);
    return fabric.opened >= 4;
  }));
  EXPECT_TRUE(one.transport->endpoints().empty());
  {
    const std::lock_guard lock(fabric.mutex);
    fabric.refused.clear();
  }
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 5; }));
  const auto windows = one.flush();
  ASSERT_GE(windows.size(), 2U) << "what had no device is not mixed with what has";
  EXPECT_EQ(windows[0].device, "");
  EXPECT_GT(windows[0].pairs[0].unreachable, 0U);
  EXPECT_EQ(windows.back().device, "memory");
  EXPECT_GT(windows.back().pairs[0].received, 0U);
}

TEST(RdmaTransport, AFailedEndpointIsMadeAnew) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 5; }));
  const auto before = two.transport->endpoints().at(0);
  {
    const std::lock_guard lock(fabric.mutex);
    fabric.endpoints.at(before.qpn)->fail();
  }
  ASSERT_TRUE(eventually([&] {
    const auto now = two.transport->endpoints();
    return !now.empty() && now[0].qpn != before.qpn;
  }));
  EXPECT_TRUE(eventually([&] { return two.changes >= 2; }));
  introduce({&one, &two});
  const auto answered = two.answered();
  EXPECT_GE(answered, 5U) << "what the old endpoint answered stays counted";
  EXPECT_TRUE(eventually([&] { return two.answered() >= answered + 5; }));
  const TransportCounters counters = two.transport->counters();
  EXPECT_EQ(counters.endpoints_lost, 1U);
  ASSERT_EQ(counters.endpoint_dropped.size(), 1U);
  EXPECT_EQ(counters.endpoint_dropped[0].count, 2U)
      << "what the old endpoint dropped stays counted";
}

TEST(RdmaTransport, WhatWasUnderWayToAnEndpointThatIsGoneIsNoLoss) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 5; }));
  two.transport.reset();
  const auto sent = one.sent();
  ASSERT_TRUE(eventually([&] { return one.sent() >= sent + 3; }));
  introduce({&one});  // the controller has noticed
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const PairWindow pair = only(one.flush());
  EXPECT_GT(pair.received, 0U);
  EXPECT_GT(pair.unreachable, 0U);
}

TEST(RdmaTransport, ALostAckLeavesTheRtt) {
  MemoryFabric fabric;
  fabric.lose_acks = true;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.timeout = 100 * kMillisecond;  // too short for T3 - T2 to come in a later PONG
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 10; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1400));  // timeout and grace
  const PairWindow pair = only(one.flush());
  EXPECT_GT(pair.ack_lost, 0U);
  EXPECT_EQ(pair.ack_lost, pair.received);
  EXPECT_EQ(pair.lost, 0U);
  EXPECT_EQ(pair.network.count(), 0U);
  EXPECT_EQ(pair.rtt.count(), pair.received - anomalies(pair));
  EXPECT_GT(pair.rtt.count(), 0U);
}

TEST(RdmaTransport, WithoutTimestampsTheSplitIsMissingAndSaidSo) {
  MemoryFabric fabric;
  fabric.no_timestamps = true;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)});
  two.probe({});
  introduce({&one, &two});
  ASSERT_TRUE(eventually([&] { return two.answered() >= 10; }));
  const PairWindow pair = only(one.flush());
  EXPECT_GT(pair.received, 0U);
  EXPECT_EQ(pair.anomalous[static_cast<std::size_t>(Anomaly::kNoTimestamp)],
            pair.received - pair.ack_lost);
  EXPECT_LE(pair.ack_lost, 1U);
  EXPECT_EQ(pair.network.count(), 0U);
}

TEST(RdmaTransport, AFullSendQueueIsBackPressureAndAnUnresolvedPathUnreachable) {
  MemoryFabric fabric;
  fabric.posts[host(2)] = rdma::PostResult::kFull;
  fabric.posts[host(3)] = rdma::PostResult::kUnreachable;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  Agent three(fabric, 3);
  one.probe({host(2), host(3)});
  two.probe({});
  three.probe({});
  introduce({&one, &two, &three});
  ASSERT_TRUE(eventually([&] { return one.transport->counters().pings_skipped >= 3; }));
  {
    const std::lock_guard lock(fabric.mutex);
    fabric.posts.erase(host(2));
  }
  ASSERT_TRUE(eventually([&] { return two.answered() >= 5; }));
  const auto windows = one.flush();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_GT(windows[0].pairs[0].received, 0U);
  EXPECT_EQ(windows[0].pairs[0].unreachable, 0U);
  EXPECT_GT(windows[0].pairs[1].unreachable, 0U);
  EXPECT_EQ(windows[0].pairs[1].sent, windows[0].pairs[1].unreachable);
}

TEST(RdmaTransport, DropsWhatIsNoneOfItsBusiness) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  one.probe({});
  ASSERT_TRUE(eventually([&] { return !one.transport->endpoints().empty(); }));
  const auto to = one.transport->endpoints()[0];
  MemoryEndpoint stranger(fabric, host(9));
  const auto send = [&](std::vector<std::uint8_t> bytes) {
    rdma::UdMessage message;
    message.path.gid.bytes = to.gid;
    message.qpn = to.qpn;
    message.q_key = to.q_key;
    message.payload = bytes;
    stranger.post(message);
    stranger.flush();
  };
  send({1, 2, 3});
  send(std::vector<std::uint8_t>(56, 0x55));
  wire::ProbeMessage ping;
  ping.type = wire::ProbeType::kPing;
  ping.length = 56;
  ping.q_key = 0x80000001;
  std::vector<std::uint8_t> bytes(56);
  wire::write(ping, bytes);
  send(bytes);
  ping.type = wire::ProbeType::kPong;
  bytes.resize(wire::kPongBytes);
  for (const std::uint32_t id : {3U << 17, 5U}) {
    ping.id = id;
    wire::write(ping, bytes);
    send(bytes);
  }
  EXPECT_TRUE(eventually([&] { return one.dropped(DropReason::kUnknownId) == 1; }));
  EXPECT_EQ(one.dropped(DropReason::kTrace), 1U);
  EXPECT_EQ(one.dropped(DropReason::kShort), 1U);
  EXPECT_EQ(one.dropped(DropReason::kMagic), 1U);
  EXPECT_EQ(one.dropped(DropReason::kQKey), 1U);
  EXPECT_EQ(one.answered(), 0U);
}

TEST(RdmaTransport, ABurstTakesOnePathAndIsInNoWindow) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  Agent two(fabric, 2);
  one.probe({host(2)}, 2);
  two.probe({});
  introduce({&one, &two});
  one.transport->startBurst(makeBurst(*one.assignment, host(2), 2, 10, 2 * kMillisecond));
  ASSERT_TRUE(eventually([&] { return one.transport->burstPings().size() == 10; }));
  for (const BurstPing& ping : one.transport->burstPings()) {
    EXPECT_EQ(ping.fate, PingFate::kReceived);
    EXPECT_TRUE(ping.network);
  }
  one.transport->endBurst();
  EXPECT_TRUE(one.transport->burstPings().empty());
  const auto windows = one.flush();
  ASSERT_EQ(windows.size(), 2U) << "one for each path";
  const std::uint32_t first = windows[0].pairs.at(0).sent;
  const std::uint32_t second = windows[1].pairs.at(0).sent;
  EXPECT_LE(second, first + 3) << "what the burst sent on path 2 is not in its row";
}

TEST(RdmaTransport, ABurstToNobodyIsUnreachable) {
  MemoryFabric fabric;
  Agent one(fabric, 1);
  one.probe({host(9)});
  introduce({&one});
  one.transport->startBurst(makeBurst(*one.assignment, host(9), 0, 2, kMillisecond));
  ASSERT_TRUE(eventually([&] { return one.transport->burstPings().size() == 2; }));
  EXPECT_EQ(one.transport->burstPings()[1].fate, PingFate::kUnreachable);
}

}  // namespace
}  // namespace pingloom::probe::rdma_ud::transport_test
