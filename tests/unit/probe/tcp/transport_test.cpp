// Tests the whole transport with its thread, its listeners and its windows.
#include "probe/tcp/transport.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "common/fd.h"
#include "probe/path_queue.h"
#include "unit/eventually.h"

namespace pingloom::probe::tcp::transport_test {
namespace {

IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x7f4e1400 + number); }

std::uint16_t freePort(const IpAddress& address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  socklen_t size = address.toSockaddr(0, storage);
  EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  return SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage)).port;
}

std::shared_ptr<plan::Assignment> assignmentOf(const char* name,
                                               const plan::AddressList& destinations) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = name;
  made->probe.protocol = Protocol::kTcp;
  made->probe.interval = 20 * kMillisecond;
  made->probe.window = kSecond;
  made->probe.timeout = 300 * kMillisecond;
  made->source = host(1);
  made->destinations = destinations;
  return made;
}

class TcpTransportTest : public testing::Test {
 protected:
  TcpTransportTest() {
    context.listen = {host(1), host(2)};
    context.port = freePort(host(1));
    context.clock = &clock;
    context.windows = &queue;
    auto made = makeTransport(context);
    EXPECT_TRUE(made) << made.error().text();
    transport = std::move(*made);
  }
  // Returns the next windows that close, or none after ten seconds.
  std::vector<ClosedWindow> closed() {
    pollfd ready{queue.descriptor(), POLLIN, 0};
    poll(&ready, 1, 10'000);
    return queue.takeAll();
  }

  WindowClock clock{0};
  WindowQueue queue;
  AgentContext context;
  std::unique_ptr<Transport> transport;
};

TEST_F(TcpTransportTest, ProbesAnswersAndClosesWindows) {
  // A window begins now. One that ends at once would have no ping of some pairs.
  clock.setOffset(-(monotonicNow() % kSecond));
  // Hosts 1 and 2 answer. Host 3 exists but does not listen.
  transport->setWork({{assignmentOf("mesh", {host(1), host(2), host(3)})}, nullptr});
  const auto windows = closed();
  ASSERT_FALSE(windows.empty());
  const auto& pairs = windows[0].pairs;
  ASSERT_EQ(pairs.size(), 3U);
  for (const PairWindow& pair : pairs) {
    EXPECT_GT(pair.sent, 0U);
    EXPECT_EQ(pair.sent, pair.received + pair.lost + pair.refused + pair.unreachable);
  }
  EXPECT_GT(pairs[0].received, 0U);
  EXPECT_GT(pairs[1].received, 0U);
  EXPECT_EQ(pairs[2].refused, pairs[2].sent);
  const TransportCounters counters = transport->counters();
  EXPECT_GE(counters.pings_sent, std::uint64_t{pairs[0].sent} + pairs[1].sent + pairs[2].sent);
  EXPECT_GT(counters.pings_answered, 0U);
  EXPECT_GT(counters.send_lateness.count(), 0U);
}

TEST_F(TcpTransportTest, ReloadsWhileConnectsAreUnderWay) {
  // A long timeout and an unused address keep connects in flight, whatever the plan does.
  const UniqueFd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  socklen_t size = host(9).toSockaddr(context.port, storage);
  ASSERT_EQ(bind(silent.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  ASSERT_EQ(listen(silent.get(), 0), 0);
  const UniqueFd blocker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(blocker.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  plan::AddressList more = {host(2), host(9)};
  for (std::uint32_t round = 0; round < 40; ++round) {
    if (round % 4 == 0) more = {host(2), host(9)};
    more.insert(more.begin() + 1, host(3 + round % 4));
    std::sort(more.begin(), more.end());
    transport->setWork({{assignmentOf("mesh", more), assignmentOf("other", {host(2)})}, nullptr});
    poll(nullptr, 0, 5);
  }
  transport->flush();
  std::map<IpAddress, PairWindow> sums;
  for (ClosedWindow& window : queue.takeAll()) {
    for (std::size_t i = 0; i < window.pairs.size(); ++i) {
      const PairWindow& pair = window.pairs[i];
      EXPECT_EQ(pair.sent, pair.received + pair.lost + pair.refused + pair.unreachable);
      PairWindow& sum = sums[window.assignment->destinations[i]];
      sum.received += pair.received;
      sum.lost += pair.lost;
      sum.refused += pair.refused;
    }
  }
  EXPECT_GT(sums[host(2)].received, 0U);
  EXPECT_EQ(sums[host(2)].lost + sums[host(2)].refused, 0U);
  EXPECT_EQ(sums[host(9)].received + sums[host(9)].refused, 0U) << "verdicts keep to their pair";
}

TEST_F(TcpTransportTest, FlushEndsProbingButNotAnswering) {
  transport->setWork({{assignmentOf("mesh", {host(2)})}, nullptr});
  ASSERT_FALSE(closed().empty());
  transport->flush();
  (void)queue.takeAll();
  const auto sent = transport->counters().pings_sent;
  const auto answered = transport->counters().pings_answered;
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  const socklen_t size = host(2).toSockaddr(context.port, storage);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  char byte = 0;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0) << "accepted and closed";
  EXPECT_GT(transport->counters().pings_answered, answered);
  EXPECT_EQ(transport->counters().pings_sent, sent);
}

TEST_F(TcpTransportTest, AnAddressInUseIsAnError) {
  const auto second = makeTransport(context);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text().find(host(1).text()), std::string::npos);
}

TEST_F(TcpTransportTest, ManyInFlight) {
  // One host gets 400 pings with a timeout of 300 ms and does not answer; another host answers.
  const UniqueFd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  const socklen_t size = host(8).toSockaddr(context.port, storage);
  ASSERT_EQ(bind(silent.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  ASSERT_EQ(listen(silent.get(), 0), 0);
  const UniqueFd blocker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(blocker.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  auto fast = assignmentOf("fast", {host(8)});
  fast->probe.interval = kMillisecond;
  transport->setWork({{fast, assignmentOf("mesh", {host(2)})}, nullptr});
  std::uint64_t lost = 0;
  std::uint64_t received = 0;
  while (lost == 0 || received == 0) {
    const auto windows = closed();
    ASSERT_FALSE(windows.empty());
    for (const ClosedWindow& window : windows) {
      const PairWindow& pair = window.pairs[0];
      EXPECT_EQ(pair.sent, pair.received + pair.lost);
      if (window.assignment->probe.name == "fast") {
        EXPECT_EQ(pair.received, 0U);
        lost += pair.lost;
      } else {
        EXPECT_EQ(pair.lost, 0U);
        received += pair.received;
      }
    }
  }
}

TEST_F(TcpTransportTest, ABurstIsAnsweredAndInNoWindow) {
  const auto slow = assignmentOf("mesh", {host(2)});
  slow->probe.interval = kHour;
  transport->setWork({{slow}, nullptr});
  transport->startBurst(makeBurst(*slow, host(2), 0, 10, 2 * kMillisecond));
  std::vector<BurstPing> pings;
  ASSERT_TRUE(test::eventually([&] {
    pings = transport->burstPings();
    return pings.size() >= 10;
  }));
  ASSERT_EQ(pings.size(), 10U);
  for (const BurstPing& ping : pings) {
    EXPECT_EQ(ping.fate, PingFate::kReceived);
    EXPECT_TRUE(ping.rtt || ping.anomaly);
  }
  transport->setWork({{slow}, nullptr});
  EXPECT_EQ(transport->burstPings().size(), 10U) << "a plan change leaves it alone";
  transport->endBurst();
  transport->flush();
  for (const ClosedWindow& window : queue.takeAll()) EXPECT_LE(window.pairs.at(0).sent, 1U);
}

TEST_F(TcpTransportTest, TracesAConnectionOfEachPair) {
  PathQueue paths;
  context.paths = &paths;
  // Host 2 answers, and host 3 refuses, which is an answer too.
  transport->setWork({{assignmentOf("mesh", {host(1), host(2), host(3)})}, nullptr});
  std::map<IpAddress, TracedPath> traced;
  ASSERT_TRUE(test::eventually([&] {
    for (TracedPath& path : paths.takeAll()) {
      const IpAddress destination = path.destination;
      EXPECT_TRUE(traced.emplace(destination, std::move(path)).second);
    }
    return traced.size() == 2;
  }));
  for (const IpAddress& destination : {host(2), host(3)}) {
    const TracedPath& path = traced.at(destination);
    EXPECT_EQ(path.probe, "mesh");
    EXPECT_EQ(path.source, host(1));
    EXPECT_EQ(path.end, PathEnd::kReached);
    EXPECT_TRUE(path.hops.empty()) << "there is no router";
    EXPECT_GT(path.destination_rtt, 0);
    EXPECT_TRUE(path.one_connection);
    EXPECT_NE(path.source_port, 0);
    EXPECT_EQ(path.destination_port, context.port);
  }
  transport->setWork({{}, nullptr});
  context.paths = nullptr;
}

}  // namespace
}  // namespace pingloom::probe::tcp::transport_test
