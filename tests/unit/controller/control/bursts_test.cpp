#include "controller/control/bursts.h"

#include <gtest/gtest.h>

#include "unit/controller/dealer.h"
#include "unit/controller/support.h"
#include "wire/burst_codec.h"

namespace pingloom::controller::bursts_test {
namespace {

using test::Dealer;
using test::ip;

// The clock is the test's; agents are sockets that say what the test has them say.
class BurstsTest : public testing::Test {
 protected:
  // Registers an agent with one address.
  std::unique_ptr<Dealer> agent(const std::string& host, const std::string& address,
                                std::uint64_t incarnation = 1) {
    auto dealer = std::make_unique<Dealer>(socket_->address());
    wire::AgentMessage hello;
    *hello.mutable_registration() = test::registerOf(host, incarnation, {address});
    dealer->send(hello);
    std::optional<net::ZmqRouter::Message> message;
    EXPECT_TRUE(test::eventually([&] { return (message = socket_->receive()).has_value(); }));
    EXPECT_TRUE(registry_.admit(hello.registration(), message->route, {}, now_));
    return dealer;
  }
  static BurstOrder order(const char* source = "10.0.0.1") {
    return {"udp", ip(source), ip("10.0.0.2"), 0, 3, 10 * kMillisecond, 500 * kMillisecond};
  }
  BurstAnswer ask(const BurstOrder& order) {
    std::optional<BurstAnswer> answer;
    board_.ask(order, [&](BurstAnswer given) { answer = std::move(given); });
    EXPECT_FALSE(answer) << "the control thread answers";
    bursts_.runDue(now_);
    EXPECT_TRUE(answer);
    return answer.value_or(BurstAnswer{});
  }
  Status report(const std::string& host, std::uint64_t id, const std::vector<BurstPing>& pings,
                bool finished = false, const std::string& refused = "") {
    wire::BurstReport message;
    message.set_id(id);
    message.set_finished(finished);
    message.set_refused(refused);
    for (const BurstPing& ping : pings) wire::encode(ping, *message.add_pings());
    return bursts_.report(*registry_.find(host), message, now_);
  }

  Instant now_{1000 * kSecond, 1'795'230'720 * kSecond};
  std::unique_ptr<net::ZmqRouter> socket_ =
      std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}));
  Registry registry_;
  BurstBoard board_;
  Bursts bursts_{*socket_, registry_, board_};
};

TEST_F(BurstsTest, OrdersTheAgentAndShowsWhatComes) {
  const auto dealer = agent("a", "10.0.0.1");
  const BurstAnswer answer = ask(order());
  ASSERT_NE(answer.id, 0U) << answer.reason;
  const auto message = dealer->expect(wire::ControllerMessage::kBurst);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->burst().id(), answer.id);
  EXPECT_EQ(message->burst().probe(), "udp");
  EXPECT_EQ(message->burst().source(), ip("10.0.0.1").wire());
  EXPECT_EQ(message->burst().count(), 3U);
  EXPECT_EQ(message->burst().interval_ns(), 10 * kMillisecond);
  auto known = board_.find(answer.id);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->state, BurstState::kRunning);
  EXPECT_TRUE(known->pings.empty());

  ASSERT_TRUE(report("a", answer.id, {{2, PingFate::kLost}}));
  known = board_.find(answer.id);
  ASSERT_EQ(known->pings.size(), 1U);
  EXPECT_EQ(known->pings[0].fate, PingFate::kLost);
  ASSERT_TRUE(report("a", answer.id, {{1, PingFate::kReceived}, {2, PingFate::kLost}}, true));
  known = board_.find(answer.id);
  EXPECT_EQ(known->state, BurstState::kDone);
  ASSERT_EQ(known->pings.size(), 3U);
  EXPECT_EQ(known->pings[0].sequence, 1U);
  EXPECT_EQ(known->pings[2].fate, PingFate::kNotSent) << "the agent said nothing of it";
  EXPECT_EQ(bursts_.running(), 0U);
  EXPECT_EQ(board_.started(), 1U);
  now_.mono += Bursts::kKeep;
  EXPECT_LE(bursts_.nextDue(), now_.mono);
  bursts_.runDue(now_);
  EXPECT_EQ(board_.find(answer.id), nullptr);
}

TEST_F(BurstsTest, RefusesWithTheReason) {
  EXPECT_EQ(ask(order()).refusal, BurstRefusal::kNoAgent);
  const auto dealer = agent("a", "10.0.0.1");
  EXPECT_NE(ask(order()).id, 0U);
  EXPECT_EQ(ask(order()).refusal, BurstRefusal::kAgentBusy);
  registry_.goodbye(*registry_.find("a"));
  EXPECT_EQ(ask(order()).refusal, BurstRefusal::kNoAgent);
  EXPECT_EQ(board_.refused(BurstRefusal::kNoAgent), 2U);
  EXPECT_EQ(board_.refused(BurstRefusal::kAgentBusy), 1U);
}

TEST_F(BurstsTest, AtMostSoManyAtATimeAndInAMinute) {
  std::vector<std::unique_ptr<Dealer>> agents;
  std::vector<BurstOrder> orders;
  for (std::size_t i = 0; i <= Bursts::kMaxRunning; ++i) {
    const std::string address = "10.0.1." + std::to_string(i + 1);
    agents.push_back(agent("h" + std::to_string(i), address));
    orders.push_back(order(address.c_str()));
  }
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < Bursts::kMaxRunning; ++i) ids.push_back(ask(orders[i]).id);
  EXPECT_EQ(ask(orders.back()).refusal, BurstRefusal::kTooMany);
  ASSERT_TRUE(report("h0", ids[0], {}, true));
  std::uint64_t id = 0;
  std::size_t begun = ids.size();
  while ((id = ask(orders.back()).id) != 0) {
    ASSERT_TRUE(report("h" + std::to_string(Bursts::kMaxRunning), id, {}, true));
    ++begun;
    ASSERT_LE(begun, Bursts::kMaxPerMinute);
  }
  EXPECT_EQ(begun, Bursts::kMaxPerMinute);
  now_.mono += kMinute;  // the agents' leases are not looked at here
  EXPECT_NE(ask(orders.back()).id, 0U);
}

TEST_F(BurstsTest, EndsWhenItsAgentHasGone) {
  const auto dealer = agent("a", "10.0.0.1");
  const auto id = ask(order()).id;
  ASSERT_TRUE(report("a", id, {{1, PingFate::kReceived}}));
  EXPECT_LE(bursts_.nextDue(), now_.mono + Bursts::kCheckEvery);
  registry_.goodbye(*registry_.find("a"));
  bursts_.runDue(now_);
  const auto known = board_.find(id);
  EXPECT_EQ(known->state, BurstState::kFailed);
  EXPECT_EQ(known->reason, "agent a has gone");
  EXPECT_EQ(known->pings.size(), 1U);
}

TEST_F(BurstsTest, EndsWhenItsAgentWasRestarted) {
  const auto first = agent("a", "10.0.0.1");
  const auto id = ask(order()).id;
  const auto second = agent("a", "10.0.0.1", 2);
  bursts_.runDue(now_);
  EXPECT_EQ(board_.find(id)->reason, "agent a was restarted");
}

TEST_F(BurstsTest, EndsInTimeWhateverHappens) {
  const auto dealer = agent("a", "10.0.0.1");
  const auto id = ask(order()).id;
  now_.mono += 520 * kMillisecond + Bursts::kSlack - 1;
  bursts_.runDue(now_);
  EXPECT_EQ(board_.find(id)->state, BurstState::kRunning);
  now_.mono += 1;
  bursts_.runDue(now_);
  EXPECT_EQ(board_.find(id)->state, BurstState::kFailed);
  EXPECT_NE(board_.find(id)->reason.find("in time"), std::string::npos);
}

TEST_F(BurstsTest, AnAgentsRefusalIsTheReason) {
  const auto dealer = agent("a", "10.0.0.1");
  const auto id = ask(order()).id;
  ASSERT_TRUE(report("a", id, {}, true, "agent: the pair is\nnot in the plan"));
  EXPECT_EQ(board_.find(id)->state, BurstState::kFailed);
  EXPECT_EQ(board_.find(id)->reason, "agent: the pair is not in the plan");
}

TEST_F(BurstsTest, HostileReports) {
  const auto dealer = agent("a", "10.0.0.1");
  const auto other = agent("b", "10.0.0.2");
  const auto id = ask(order()).id;
  EXPECT_TRUE(report("b", id, {{1, PingFate::kLost}}, true)) << "ignored: not its burst";
  EXPECT_TRUE(report("a", id + 1, {{1, PingFate::kLost}}, true)) << "ignored: over, perhaps";
  EXPECT_FALSE(report("a", id, {{4, PingFate::kLost}}));
  EXPECT_FALSE(report("a", id, {{0, PingFate::kLost}}));
  const std::vector<BurstPing> many(4, {1, PingFate::kLost});
  EXPECT_FALSE(report("a", id, many));
  EXPECT_EQ(board_.find(id)->state, BurstState::kRunning);
  EXPECT_TRUE(board_.find(id)->pings.empty());
}

TEST_F(BurstsTest, WhoWaitsWhenTheControllerEndsIsTold) {
  std::optional<BurstAnswer> waits;
  board_.ask(order(), [&](BurstAnswer given) { waits = std::move(given); });
  board_.stop();
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->refusal, BurstRefusal::kEnding);
  std::optional<BurstAnswer> late;
  board_.ask(order(), [&](BurstAnswer given) { late = std::move(given); });
  ASSERT_TRUE(late);
  EXPECT_EQ(late->refusal, BurstRefusal::kEnding);
}

TEST_F(BurstsTest, OrdersThatNobodyTakesAreBounded) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < BurstBoard::kMaxWaiting + 2; ++i) {
    board_.ask(order(), [&](const BurstAnswer& given) { refused += given.id == 0 ? 1 : 0; });
  }
  EXPECT_EQ(refused, 2U);
  board_.stop();  // while `refused` is there
}

}  // namespace
}  // namespace pingloom::controller::bursts_test
