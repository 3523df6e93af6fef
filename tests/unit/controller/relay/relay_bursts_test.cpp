// Bursts that one controller orders of the agents of another one.
#include "unit/controller/relay/relay_fixture.h"
#include "wire/burst_codec.h"

namespace pingloom::controller::relay_test {
namespace {

using test::ip;

class RelayBurstsTest : public RelayTest {
 protected:
  RelayBurstsTest() {
    bursts_.forwardBy([this](const std::string& controller, const wire::AgentMessage& order) {
      return others_->order(controller, order);
    });
  }
  // "other" has been told of the agent.
  void beginWith(Dealer& dealer) {
    registerAgent(dealer, "a", "10.0.0.1");
    ASSERT_TRUE(comes([&] { return known("a") && !others_->heard().empty(); }));
  }
  BurstAnswer ask() {
    std::optional<BurstAnswer> answer;
    other_.bursts.ask(
        {"udp", ip("10.0.0.1"), ip("10.0.0.2"), 0, 2, 10 * kMillisecond, 500 * kMillisecond},
        [&](BurstAnswer given) { answer = std::move(given); });
    bursts_.runDue(now_);
    return answer.value_or(BurstAnswer{});
  }
  static wire::AgentMessage reportOf(std::uint64_t id, std::uint32_t pings, bool finished) {
    wire::AgentMessage message;
    wire::BurstReport& report = *message.mutable_burst();
    report.set_id(id);
    report.set_finished(finished);
    for (std::uint32_t sequence = 1; sequence <= pings; ++sequence) {
      wire::encode({sequence, PingFate::kReceived}, *report.add_pings());
    }
    return message;
  }
  std::size_t pingsOf(std::uint64_t id) const { return other_.bursts.find(id)->pings.size(); }
  BurstState stateOf(std::uint64_t id) const { return other_.bursts.find(id)->state; }
};

TEST_F(RelayBurstsTest, AnAgentOfAnotherControllerIsOrderedAndItsReportsComeBack) {
  Dealer dealer(socket_->address());
  beginWith(dealer);
  const BurstAnswer answer = ask();
  ASSERT_NE(answer.id, 0U) << answer.reason;
  const auto order = dealer.expect(wire::ControllerMessage::kBurst, [&] { turn(); });
  ASSERT_TRUE(order);
  EXPECT_EQ(order->burst().id(), answer.id);
  EXPECT_EQ(order->burst().probe(), "udp");
  EXPECT_EQ(order->burst().count(), 2U);
  dealer.send(reportOf(answer.id, 1, false));
  ASSERT_TRUE(comes([&] { return pingsOf(answer.id) == 1; }));
  EXPECT_EQ(stateOf(answer.id), BurstState::kRunning);
  dealer.send(reportOf(answer.id, 2, true));
  ASSERT_TRUE(comes([&] { return stateOf(answer.id) == BurstState::kDone; }));
  EXPECT_EQ(pingsOf(answer.id), 2U);
  EXPECT_EQ(home_.bursts.find(answer.id), nullptr) << "home has not ordered it";
  EXPECT_EQ(server_.messagesRefused(), 0U);
}

TEST_F(RelayBurstsTest, ARefusalComesBackWithItsReason) {
  Dealer dealer(socket_->address());
  beginWith(dealer);
  talking_.clear();
  home_.registry.goodbye(*home_.registry.find("a"));
  const BurstAnswer answer = ask();
  ASSERT_NE(answer.id, 0U) << answer.reason;
  ASSERT_TRUE(comes([&] { return stateOf(answer.id) == BurstState::kFailed; }));
  EXPECT_EQ(other_.bursts.find(answer.id)->reason,
            "its controller does not know the agent any more");
}

TEST_F(RelayBurstsTest, WhereNobodyIsHeardItIsRefusedAtOnce) {
  Dealer dealer(socket_->address());
  beginWith(dealer);
  auto alone = *other_.board.cluster();
  alone.members.erase(alone.members.begin());
  other_.board.publishCluster(std::make_shared<const ClusterStatus>(alone));
  home_runs_ = false;
  now_.mono += OtherControllers::kSilence;
  ASSERT_TRUE(comes([&] { return others_->heard().empty(); }));
  const BurstAnswer answer = ask();
  EXPECT_EQ(answer.id, 0U);
  EXPECT_EQ(answer.refusal, BurstRefusal::kNoAgent);
}

TEST_F(RelayBurstsTest, EachMayOrderSoManyInAMinute) {
  Dealer dealer(socket_->address());
  beginWith(dealer);
  const std::string follower = "a route";
  BurstRelay relay(*socket_, home_.registry);
  wire::RelayedBurstOrder order;
  order.set_host("a");
  order.set_incarnation(7);
  const auto taken = [&](std::uint64_t id, const std::string& route) {
    order.mutable_order()->set_id(id);
    relay.order(route, order, now_);
    const bool known = relay.report(*home_.registry.find("a"), reportOf(id, 0, true).burst());
    EXPECT_TRUE(!known || dealer.expect(wire::ControllerMessage::kBurst).has_value());
    return known;
  };
  for (std::uint64_t id = 1; id <= Bursts::kMaxPerMinute; ++id) EXPECT_TRUE(taken(id, follower));
  EXPECT_FALSE(taken(1000, follower));
  EXPECT_TRUE(taken(1001, "another route"));
  now_.mono += kMinute;
  EXPECT_TRUE(taken(1002, follower));
  EXPECT_FALSE(relay.report(*home_.registry.find("a"), reportOf(1002, 0, true).burst()))
      << "it has finished";
}

TEST_F(RelayBurstsTest, OnlyControllersThatFollowMayOrder) {
  Dealer agent(socket_->address());
  beginWith(agent);
  Dealer stranger(socket_->address());
  wire::AgentMessage message;
  message.mutable_burst_order()->set_host("a");
  message.mutable_burst_order()->set_incarnation(7);
  message.mutable_burst_order()->mutable_order()->set_id(1);
  stranger.send(message);
  const auto answer = stranger.expect(wire::ControllerMessage::kRefused, [&] { turn(); });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->refused().reason(), wire::Refused::NOT_AUTHORIZED);
}

TEST_F(RelayBurstsTest, AMalformedReportChangesNothing) {
  Dealer dealer(socket_->address());
  beginWith(dealer);
  const std::uint64_t id = ask().id;
  wire::AgentMessage wrong = reportOf(id, 2, true);
  wrong.mutable_burst()->mutable_pings(1)->set_sequence(9);
  wire::RelayedBurstReport told;
  told.set_host("a");
  *told.mutable_report() = wrong.burst();
  intake_.takeBurst("home", told, now_);
  EXPECT_EQ(stateOf(id), BurstState::kRunning);
  *told.mutable_report() = reportOf(id, 2, true).burst();
  intake_.takeBurst("third", told, now_);
  EXPECT_EQ(stateOf(id), BurstState::kRunning) << "it is not the agent's controller";
  intake_.takeBurst("home", told, now_);
  EXPECT_EQ(stateOf(id), BurstState::kDone);
}

}  // namespace
}  // namespace pingloom::controller::relay_test
