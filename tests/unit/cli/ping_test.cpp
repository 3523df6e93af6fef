#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/ping_result.h"
#include "cli/ping_session.h"
#include "probe/transport.h"

namespace pingloom::cli::ping_test {
namespace {

constexpr Nanos kUs = kMicrosecond;

void addSplit(probe::PairWindow& pair, Nanos network, Nanos responder, Nanos prober) {
  ++pair.sent;
  ++pair.received;
  pair.addNetwork(network);
  pair.responder.add(static_cast<std::uint64_t>(responder));
  pair.prober.add(static_cast<std::uint64_t>(prober));
  pair.rtt.add(static_cast<std::uint64_t>(network + responder + prober));
}

TEST(PingResult, OneExchangeWithItsParts) {
  probe::PairWindow pair;
  addSplit(pair, 4 * kUs, 20 * kUs, 30 * kUs);
  const auto results = resultsOf(pair);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(lineOf(results[0]), "network 4.00 us, responder 20.0 us, prober 30.0 us, rtt 54.0 us");
  EXPECT_EQ(jsonOf(results[0]),
            R"({"outcome":"received","network_ns":4000,"responder_ns":20000,"prober_ns":30000,)"
            R"("rtt_ns":54000})");
}

TEST(PingResult, SeveralAtOnceKeepTheirParts) {
  probe::PairWindow pair;
  addSplit(pair, 4, 20, 30);
  pair.rtt.add(777);  // one whose ACK was lost, between the two
  ++pair.received;
  ++pair.ack_lost;
  addSplit(pair, 5, 21, 31);
  ++pair.received;
  ++pair.anomalous[static_cast<std::size_t>(Anomaly::kStalled)];
  ++pair.lost;
  ++pair.refused;
  const auto results = resultsOf(pair);
  ASSERT_EQ(results.size(), 6U);
  EXPECT_EQ(results[0].rtt, 54);
  EXPECT_EQ(results[1].rtt, 57);
  EXPECT_TRUE(results[2].ack_lost);
  EXPECT_EQ(results[2].rtt, 777);
  EXPECT_EQ(lineOf(results[3]), "anomalous: stalled");
  EXPECT_EQ(lineOf(results[4]), "lost");
  EXPECT_EQ(lineOf(results[5]), "refused");
}

TEST(PingResult, TcpHasNetworkAndRttOnly) {
  probe::PairWindow pair;
  ++pair.received;
  pair.addNetwork(40 * kUs);
  pair.rtt.add(95 * kUs);
  EXPECT_EQ(lineOf(resultsOf(pair)[0]), "network 40.0 us, rtt 95.0 us");
}

TEST(PingResult, RoundTripsBeyondTheExactSamples) {
  probe::PairWindow pair;
  ++pair.received;
  pair.rtt.add(5 * kSecond);
  ++pair.anomalous[static_cast<std::size_t>(Anomaly::kNoTimestamp)];
  EXPECT_EQ(resultsOf(pair)[0].rtt, 5 * kSecond);
}

TEST(PingSummary, AddsUp) {
  PingSummary summary;
  probe::PairWindow pair;
  addSplit(pair, 4 * kUs, 20 * kUs, 30 * kUs);
  ++pair.lost;
  for (const PingResult& result : resultsOf(pair)) summary.add(result);
  summary.addReplies(1, 0);
  EXPECT_EQ(summary.received(), 1U);
  const auto json = nlohmann::json::parse(summary.json())["summary"];
  EXPECT_EQ(json["sent"], 2);
  EXPECT_EQ(json["lost"], 1);
  EXPECT_EQ(json["late"], 1);
  EXPECT_EQ(json["network_ns"]["p99"], 4000);
  EXPECT_EQ(summary.text().find("2 sent, 1 received, 1 lost (50 %), 1 late"), 0U);
}

TEST(PingCommand, UsageErrors) {
  EXPECT_EQ(runPing({}), 2);
  EXPECT_EQ(runPing({"rdma", "127.0.0.1"}), 2);
  EXPECT_EQ(runPing({"udp", "127.0.0.1", "-c", "0"}), 2);
  EXPECT_EQ(runPing({"udp", "127.0.0.1", "-i", "1us"}), 2);
  EXPECT_EQ(runPing({"udp", "127.0.0.1", "--payload", "8"}), 2);
  EXPECT_EQ(runPing({"udp", "127.0.0.1", "--what"}), 2);
  EXPECT_EQ(runPing({"udp", "no-such-host.invalid"}), 2);
  EXPECT_EQ(runPing({"tcp", "--help"}), 0);
}

// A transport answers on this address, on its own thread.
class PingTest : public testing::Test {
 protected:
  void start(Protocol protocol) {
    // An address of its own for each process that runs tests beside this one.
    const auto process = static_cast<std::uint32_t>(getpid());
    context.listen = {IpAddress::fromV4(0x7f500000 + (process & 0xffff))};
    context.port = 20'799;
    context.clock = &clock;
    context.windows = &queue;
    auto made = probe::makeTransports(context);
    ASSERT_TRUE(made) << made.error().text();
    transports = std::move(*made);
    request.protocol = protocol;
    request.source = IpAddress::fromV4(0x7f4e3202);
    request.target = {context.listen[0], context.port};
    request.count = 20;
    request.interval = 20 * kMillisecond;
    request.timeout = 2 * kSecond;
    request.payload = 64;
  }
  std::vector<PingResult> run() {
    auto session = startPing(request);
    EXPECT_TRUE(session) << session.error().text();
    std::vector<PingResult> all;
    while (all.size() + (*session)->skipped() < request.count) {
      (*session)->wait(-1);
      for (const PingResult& result : resultsOf((*session)->pair())) all.push_back(result);
      (*session)->pair().clear();
    }
    return all;
  }
  // Checks the times of the pings that no stall of this machine touched.
  static void expectTimes(const std::vector<PingResult>& results, bool has_split) {
    int clean = 0;
    for (const PingResult& result : results) {
      EXPECT_EQ(result.outcome, "received");
      if (!result.network) continue;
      ++clean;
      EXPECT_EQ(result.responder.has_value(), has_split);
      EXPECT_EQ(result.prober.has_value(), has_split);
      if (has_split) {
        EXPECT_EQ(*result.rtt, *result.network + *result.responder + *result.prober);
      }
    }
    EXPECT_GT(clean, 0);
  }

  probe::WindowClock clock{0};
  probe::WindowQueue queue;
  probe::AgentContext context;
  std::vector<std::unique_ptr<probe::Transport>> transports;
  PingRequest request;
};

TEST_F(PingTest, UdpPrintsTheSplitOfEachExchange) {
  start(Protocol::kUdp);
  expectTimes(run(), true);
}

TEST_F(PingTest, TcpMeasuresTheConnect) {
  start(Protocol::kTcp);
  expectTimes(run(), false);
}

TEST_F(PingTest, NobodyThereIsRefused) {
  start(Protocol::kTcp);
  request.target.address = IpAddress::fromV4(0x7f4e3203);
  request.count = 3;
  for (const PingResult& result : run()) EXPECT_EQ(result.outcome, "refused");
}

TEST(SourceTowards, IsTheKernelsChoice) {
  EXPECT_EQ(sourceTowards(IpAddress::fromV4(0x7f000001))->text(), "127.0.0.1");
}

}  // namespace
}  // namespace pingloom::cli::ping_test
