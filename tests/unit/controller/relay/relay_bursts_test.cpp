// Bursts that one controller orders of the agents of another one.
#include <optional>
#include <utility>

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

// Several controllers order of one agent, whose reports have no pings.
class BurstRelayTest : public RelayBurstsTest {
 protected:
  BurstRelayTest() { beginWith(dealer_); }
  void ask(std::uint64_t id, const std::string& from) {
    wire::RelayedBurstOrder order;
    order.set_host("a");
    order.set_incarnation(7);
    order.mutable_order()->set_id(id);
    relay_.order(from, order, now_);
  }
  // Tells whether the burst was running.
  bool finish(std::uint64_t id) {
    return relay_.report(*home_.registry.find("a"), reportOf(id, 0, true).burst(), now_);
  }
  bool arrives() { return dealer_.expect(wire::ControllerMessage::kBurst).has_value(); }

  Dealer dealer_{socket_->address()};
  BurstRelay relay_{*socket_, home_.registry, &feed_};
};

TEST_F(BurstRelayTest, EachMayOrderSoManyInAMinute) {
  const auto taken = [&](std::uint64_t id, const std::string& from) {
    ask(id, from);
    const bool known = finish(id);
    EXPECT_TRUE(!known || arrives());
    return known;
  };
  for (std::uint64_t id = 1; id <= BurstRelay::kMaxPerMinute; ++id) EXPECT_TRUE(taken(id, "b"));
  EXPECT_FALSE(taken(1000, "b"));
  EXPECT_TRUE(taken(1001, "c"));
  now_.mono += kMinute;
  EXPECT_TRUE(taken(1002, "b"));
  EXPECT_FALSE(finish(1002)) << "it has finished";
}

TEST_F(BurstRelayTest, OnesThatRunAreNotForgottenForNewOnes) {
  const auto from = [](std::uint64_t id) { return "controller-" + std::to_string(id / 50); };
  for (std::uint64_t id = 1; id <= BurstRelay::kMaxKnown; ++id) {
    ask(id, from(id));
    ASSERT_TRUE(arrives());
  }
  ask(1000, "b");
  EXPECT_FALSE(finish(1000)) << "it was refused";
  EXPECT_TRUE(finish(1));
  ask(1001, "b");
  EXPECT_TRUE(finish(1001));
  EXPECT_TRUE(finish(2));
  now_.mono += kMinute;
  ask(1002, "b");
  ask(1003, "b");
  EXPECT_TRUE(finish(1003)) << "the oldest have not finished for a minute";
}

// What a controller of an earlier version tells, or, with `takes_bursts`, one of today's.
class OtherHome : public RelayBurstsTest {
 protected:
  OtherHome() {
    auto status = *other_.board.cluster();
    status.members.push_back({"third", third_->address().text(), "", 0, 0, kSecond, 3, false});
    other_.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  }
  // Answers the first Follow; tells whether an order has come.
  bool play(bool takes_bursts) {
    bool ordered = false;
    while (const auto message = third_->receive()) {
      wire::AgentMessage body;
      const auto bytes = message->frame->bytes();
      EXPECT_TRUE(body.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      ordered = ordered || body.has_burst_order();
      if (!body.has_follow() || std::exchange(told_, true)) continue;
      wire::ControllerMessage answer;
      answer.mutable_relays()->set_from_start(true);
      answer.mutable_relays()->set_complete(true);
      answer.mutable_relays()->set_takes_bursts(takes_bursts);
      wire::Relay& relay = *answer.mutable_relays()->add_relays();
      relay.set_host("a");
      *relay.mutable_agent()->mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
      relay.mutable_agent()->mutable_heartbeat()->set_incarnation(7);
      relay.mutable_agent()->set_alive(true);
      EXPECT_TRUE(third_->send(message->route, std::string_view(answer.SerializeAsString())));
    }
    return ordered;
  }
  bool isKnown() {
    const AgentInfo* info = relayed("a");
    return info != nullptr && info->controller == "third";
  }

  std::unique_ptr<net::ZmqRouter> third_ =
      std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}));
  bool told_ = false;
};

TEST_F(OtherHome, ThatTakesOrdersGetsThem) {
  ASSERT_TRUE(comes([&] { return !play(true) && isKnown(); }));
  EXPECT_NE(ask().id, 0U);
  EXPECT_TRUE(comes([&] { return play(true); }));
}

TEST_F(OtherHome, OfAnEarlierVersionIsNotAsked) {
  ASSERT_TRUE(comes([&] { return !play(false) && isKnown(); }));
  EXPECT_EQ(ask().refusal, BurstRefusal::kNoAgent);
  for (int i = 0; i < 20; ++i) {
    turn(kSecond / 5);
    EXPECT_FALSE(play(false));
  }
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
