#include "agent/burst_runner.h"

#include <gtest/gtest.h>

#include <functional>

namespace pingloom::agent::burst_runner_test {
namespace {

IpAddress ip(const char* text) { return *IpAddress::parse(text); }

// Has the pings that the test says it has.
class FakeTransport : public probe::Transport {
 public:
  explicit FakeTransport(Protocol protocol) : protocol_(protocol) {}
  Protocol protocol() const override { return protocol_; }
  void setWork(probe::Work) override {}
  void startBurst(const std::shared_ptr<const probe::Burst>& started) override { burst = started; }
  std::vector<BurstPing> burstPings() override { return pings; }
  void endBurst() override { burst.reset(); }
  void flush() override {}
  probe::TransportCounters counters() override { return {}; }

  std::shared_ptr<const probe::Burst> burst;
  std::vector<BurstPing> pings;

 private:
  Protocol protocol_;
};

plan::Plan twoProbes() {
  plan::Plan plan;
  for (const auto& [name, protocol, paths] :
       {std::tuple{"udp", Protocol::kUdp, 1U}, std::tuple{"fabric", Protocol::kRdma, 4U}}) {
    plan::ProbeSpec probe;
    probe.name = name;
    probe.protocol = protocol;
    probe.paths = paths;
    probe.payload = 200;
    probe.sources = probe.destinations = "mesh";
    plan.probes.push_back(probe);
  }
  plan.lists["mesh"] =
      std::make_shared<const plan::AddressList>(plan::AddressList{ip("10.0.0.1"), ip("10.0.0.2")});
  return plan;
}

class BurstRunnerTest : public testing::Test {
 protected:
  BurstRunnerTest() {
    for (const Protocol protocol : {Protocol::kUdp, Protocol::kRdma}) {
      auto made = std::make_unique<FakeTransport>(protocol);
      (protocol == Protocol::kUdp ? udp : rdma) = made.get();
      transports.push_back(std::move(made));
    }
    work.update(twoProbes(), {ip("10.0.0.1")});
  }
  static wire::BurstOrder order(std::uint32_t count = 3) {
    wire::BurstOrder made;
    made.set_id(7);
    made.set_probe("udp");
    made.set_source(ip("10.0.0.1").wire());
    made.set_destination(ip("10.0.0.2").wire());
    made.set_count(count);
    made.set_interval_ns(10 * kMillisecond);
    return made;
  }
  static BurstPing received(std::uint32_t sequence) {
    BurstPing ping{sequence, PingFate::kReceived};
    ping.rtt = 1000 * sequence;
    return ping;
  }

  FakeTransport* udp = nullptr;
  FakeTransport* rdma = nullptr;
  BurstRunner::Transports transports;
  WorkList work;
  std::vector<wire::BurstReport> sent;
  BurstRunner runner{work, transports, [this](const wire::BurstReport& report) {
                       if (connected) sent.push_back(report);
                       return connected;
                     }};
  bool connected = true;
  Nanos now = 1000 * kSecond;
};

TEST_F(BurstRunnerTest, HasThePairProbedAsItsProbeDoes) {
  EXPECT_EQ(runner.due(), kNever);
  runner.start(order(), now);
  ASSERT_NE(udp->burst, nullptr);
  EXPECT_EQ(rdma->burst, nullptr);
  const plan::Assignment& assignment = *udp->burst->assignment;
  EXPECT_EQ(assignment.source, ip("10.0.0.1"));
  EXPECT_EQ(assignment.destinations, plan::AddressList(3, ip("10.0.0.2")));
  EXPECT_EQ(assignment.probe.payload, 200U);
  EXPECT_EQ(udp->burst->gap, 10 * kMillisecond);
  EXPECT_EQ(runner.due(), now + BurstRunner::kReportEvery);
}

TEST_F(BurstRunnerTest, ReportsWhatIsNewAndInTheEndEverything) {
  runner.start(order(), now);
  runner.run(now);
  runner.run(now += BurstRunner::kReportEvery);
  EXPECT_TRUE(sent.empty()) << "there is nothing to say";
  udp->pings = {received(1)};
  runner.run(now += BurstRunner::kReportEvery);
  udp->pings = {received(1), received(2)};
  runner.run(now += BurstRunner::kReportEvery);
  udp->pings = {received(1), received(2), {3, PingFate::kLost}};
  runner.run(now += BurstRunner::kReportEvery);
  ASSERT_EQ(sent.size(), 3U);
  ASSERT_EQ(sent[1].pings_size(), 1);
  EXPECT_EQ(sent[1].pings(0).sequence(), 2U);
  EXPECT_EQ(sent[1].pings(0).rtt_ns(), 2000U);
  EXPECT_FALSE(sent[1].finished());
  EXPECT_TRUE(sent[2].finished());
  EXPECT_EQ(sent[2].pings_size(), 3);
  EXPECT_EQ(sent[2].id(), 7U);
  EXPECT_EQ(udp->burst, nullptr);
  EXPECT_EQ(runner.due(), kNever);
}

TEST_F(BurstRunnerTest, EndsWhenItsTimeIsOver) {
  runner.start(order(), now);
  udp->pings = {received(2)};
  const Nanos over = now + 20 * kMillisecond + 500 * kMillisecond + BurstRunner::kSlack;
  while (runner.running() && now < over + kSecond) runner.run(now += BurstRunner::kReportEvery);
  EXPECT_LT(now - over, BurstRunner::kReportEvery);
  EXPECT_TRUE(sent.back().finished());
  EXPECT_EQ(sent.back().pings_size(), 1);
  EXPECT_EQ(udp->burst, nullptr);
}

TEST_F(BurstRunnerTest, TheLastReportIsSaidAgainWhenTheConnectionIsBack) {
  runner.start(order(), now);
  udp->pings = {received(1), received(2), received(3)};
  connected = false;
  runner.run(now += BurstRunner::kReportEvery);
  EXPECT_TRUE(sent.empty());
  connected = true;
  runner.run(now += BurstRunner::kReportEvery);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_TRUE(sent[0].finished());
  EXPECT_EQ(sent[0].pings_size(), 3);
  EXPECT_EQ(udp->burst, nullptr);
}

TEST_F(BurstRunnerTest, EndsThoughNobodyCanBeTold) {
  connected = false;
  runner.start(order(), now);
  const Nanos start = now;
  while (runner.running() && now < start + kMinute) runner.run(now += BurstRunner::kReportEvery);
  EXPECT_LT(now - start, 10 * kSecond);
  EXPECT_EQ(udp->burst, nullptr);
}

TEST_F(BurstRunnerTest, OneAtATime) {
  runner.start(order(), now);
  auto second = order();
  second.set_id(8);
  runner.start(second, now);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].id(), 8U);
  EXPECT_TRUE(sent[0].finished());
  EXPECT_NE(sent[0].refused().find("busy"), std::string::npos);
  EXPECT_NE(udp->burst, nullptr) << "the first goes on";
}

TEST_F(BurstRunnerTest, APathIsNamedWhereThereAreSeveral) {
  auto fabric = order();
  fabric.set_probe("fabric");
  runner.start(fabric, now);
  ASSERT_EQ(sent.size(), 1U) << "which one?";
  fabric.set_path(4);
  runner.start(fabric, now);
  ASSERT_NE(rdma->burst, nullptr);
  EXPECT_EQ(rdma->burst->path, 4U);
}

TEST_F(BurstRunnerTest, RefusesWhatIsNotInThePlan) {
  const std::vector<std::function<void(wire::BurstOrder&)>> spoilers = {
      [](auto& bad) { bad.set_probe("other"); },
      [](auto& bad) { bad.set_source(ip("10.0.0.2").wire()); },
      [](auto& bad) { bad.set_destination(ip("10.0.0.3").wire()); },
      [](auto& bad) { bad.set_destination(ip("10.0.0.1").wire()); },
      [](auto& bad) { bad.set_destination("nonsense"); },
      [](auto& bad) { bad.set_path(1); },
      [](auto& bad) { bad.set_count(0); },
      [](auto& bad) { bad.set_count(101); },
      [](auto& bad) { bad.set_interval_ns(kMillisecond - 1); },
      [](auto& bad) { bad.set_interval_ns(-1); },
      [](auto& bad) { bad.set_interval_ns(INT64_MAX); },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    auto bad = order();
    spoilers[i](bad);
    runner.start(bad, now);
    ASSERT_EQ(sent.size(), i + 1);
    EXPECT_FALSE(sent.back().refused().empty()) << i;
    EXPECT_EQ(udp->burst, nullptr) << i;
  }
}

}  // namespace
}  // namespace pingloom::agent::burst_runner_test
