#include "controller/control/control_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/model/grid_plan.h"
#include "plan/plan_codec.h"
#include "unit/controller/dealer.h"
#include "unit/controller/support.h"
#include "wire/rendezvous.h"

namespace pingloom::controller::control_server_test {
namespace {

using test::batchOf;
using test::Dealer;
using test::goodRow;
using test::reportOf;
using wire::ControllerMessage;
using wire::Refused;

constexpr const char* kMesh = "  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n";

wire::AgentMessage registration(const std::string& host, const std::string& address,
                                std::uint64_t incarnation = 1, std::uint64_t plan_hash = 0) {
  wire::AgentMessage message;
  *message.mutable_registration() = test::registerOf(host, incarnation, {address});
  message.mutable_registration()->set_plan_hash(plan_hash);
  return message;
}

class ControlServerTest : public testing::Test {
 protected:
  ControlServerTest()
      : socket_(std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}))),
        ledger_(std::move(*Ledger::open({folder_ / "history.sqlite"}, utcNow()))),
        marks_(ledger_->marks()),
        writer_(std::move(ledger_)) {
    now_ = {monotonicNow(), utcNow()};
  }

  void usePlan(const std::string& probes) {
    pinglist_ = test::pinglistOf(probes);
    grid_.setPlan(makeGridPlan(pinglist_, ++generation_), now_);
    server_.setPlan({pinglist_, &pinglist_->plan}, now_);
  }
  // One turn of the loop; the clock is the test's.
  void turn() {
    server_.receive(now_);
    server_.acknowledgeCommitted();
    server_.presenceChanged(registry_.takeChanged(), now_);
    server_.runDue(now_);
  }
  std::optional<ControllerMessage> expect(Dealer& dealer, ControllerMessage::BodyCase kind) {
    return dealer.expect(kind, [&] { turn(); });
  }
  Refused::Reason refusalOf(Dealer& dealer, std::string_view bytes) {
    dealer.send(bytes);
    const auto message = expect(dealer, ControllerMessage::kRefused);
    return message ? message->refused().reason() : Refused::UNKNOWN;
  }
  std::uint64_t currentIndex() const {
    return static_cast<std::uint64_t>(now_.utc / (10 * kSecond));
  }
  wire::Report report(std::uint64_t age = 1) {
    return reportOf("udp", "10.0.0.1", currentIndex() - age, {goodRow("10.0.0.2")});
  }

  test::TemporaryDirectory folder_;
  Instant now_;
  Registry registry_;
  Board board_;
  Grid grid_{registry_, board_};
  std::unique_ptr<net::ZmqRouter> socket_;
  std::unique_ptr<Ledger> ledger_;
  BatchMarks marks_;
  LedgerWriter writer_;
  BatchIntake intake_{registry_, grid_, marks_, writer_};
  BurstBoard bursts_;
  PathIntake paths_{registry_, board_};
  ControlServer server_{*socket_, registry_, marks_, intake_,
                        writer_,  bursts_,   paths_, folder_ / "endpoints",
                        now_.mono};
  std::shared_ptr<const pinglist::Pinglist> pinglist_;
  std::uint64_t generation_ = 0;
};

TEST_F(ControlServerTest, RegistersAndPushesThePlan) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  const auto registered = expect(dealer, ControllerMessage::kRegistered);
  ASSERT_TRUE(registered);
  EXPECT_EQ(registered->registered().heartbeat_interval_ns(), kSecond);
  EXPECT_EQ(registered->registered().lease_ns(), 4 * kSecond);
  const auto plan = expect(dealer, ControllerMessage::kPlan);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->plan().base_hash(), 0U);
  const auto decoded = plan::decode(plan->plan(), nullptr);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(plan::hash(*decoded), server_.planHash());
}

TEST_F(ControlServerTest, SendsAgentsToTheirHome) {
  Homes homes(board_);
  ControlServer server(*socket_, registry_, marks_, intake_, writer_, bursts_, paths_,
                       folder_ / "endpoints", now_.mono, nullptr, nullptr, &homes);
  const auto runTurn = [&] {
    server.receive(now_);
    server.runDue(now_);
  };
  ClusterStatus status;
  status.name = "a";
  status.session = 1;
  status.members = {{"a", "a:1", "", 0, 0, kSecond, 1, true}};
  board_.publishCluster(std::make_shared<const ClusterStatus>(status));
  runTurn();
  std::string moves;
  std::string stays;
  for (int i = 0; moves.empty() || stays.empty(); ++i) {
    const std::string host = "gpu-" + std::to_string(i);
    (wire::homeWeight(host, "b:1") > wire::homeWeight(host, "a:1") ? moves : stays) = host;
  }
  const auto follows = [](const std::string& host, const std::string& address) {
    auto message = registration(host, address);
    message.mutable_registration()->set_follows(true);
    return message;
  };
  Dealer dealer(socket_->address());
  dealer.send(follows(moves, "10.0.0.1"));
  ASSERT_TRUE(dealer.expect(ControllerMessage::kRegistered, runTurn)) << "it is alone";
  status.members.push_back({"b", "b:1", "", 0, 0, kSecond, 2, false});
  board_.publishCluster(std::make_shared<const ClusterStatus>(status));
  now_.mono += ControlServer::kMovePause;
  const auto sent = dealer.expect(ControllerMessage::kRedirect, runTurn);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->redirect().controller(), "b:1");
  ASSERT_NE(registry_.find(moves), nullptr);
  EXPECT_EQ(registry_.find(moves)->info.controller, "b");
  EXPECT_TRUE(registry_.find(moves)->info.alive) << "it is not down";
  dealer.send(follows(moves, "10.0.0.1"));
  EXPECT_TRUE(dealer.expect(ControllerMessage::kRedirect, runTurn)) << "instead of Registered";
  dealer.send(registration(moves, "10.0.0.1"));
  EXPECT_TRUE(dealer.expect(ControllerMessage::kRegistered, runTurn)) << "it does not follow";
  Dealer another(socket_->address());
  another.send(follows(stays, "10.0.0.2"));
  EXPECT_TRUE(another.expect(ControllerMessage::kRegistered, runTurn));
  EXPECT_EQ(server.agentsSentAway(), 2U);
  // A controller without a session is nobody's home.
  status.session = 0;
  board_.publishCluster(std::make_shared<const ClusterStatus>(status));
  now_.mono += ControlServer::kMovePause;
  EXPECT_TRUE(another.expect(ControllerMessage::kRedirect, runTurn));
}

TEST_F(ControlServerTest, PushesTheDifferenceAndOnlyToThoseWhoNeedIt) {
  usePlan(kMesh);
  const plan::Plan first = pinglist_->plan;
  now_.mono += ControlServer::kCoalesce;
  Dealer has(socket_->address());
  has.send(registration("a", "10.0.0.1", 1, plan::hash(first)));
  ASSERT_TRUE(expect(has, ControllerMessage::kRegistered));
  Dealer has_not(socket_->address());
  has_not.send(registration("b", "10.0.0.2"));
  ASSERT_TRUE(expect(has_not, ControllerMessage::kPlan));
  EXPECT_FALSE(has.receive()) << "it holds this one";
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-4]'] }\n");
  const plan::Plan second = pinglist_->plan;
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-5]'] }\n");
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-6]'] }\n");
  for (Dealer* dealer : {&has, &has_not}) {
    const auto update = expect(*dealer, ControllerMessage::kPlan);
    ASSERT_TRUE(update);
    EXPECT_EQ(update->plan().base_hash(), plan::hash(first)) << "what it holds by now";
    const auto decoded = plan::decode(update->plan(), &first);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(plan::hash(*decoded), plan::hash(second));
  }
  turn();
  EXPECT_FALSE(has.receive()) << "further plans wait for others that may follow";
  now_.mono += ControlServer::kCoalesce;
  for (Dealer* dealer : {&has, &has_not}) {
    const auto update = expect(*dealer, ControllerMessage::kPlan);
    ASSERT_TRUE(update);
    EXPECT_EQ(update->plan().base_hash(), plan::hash(second));
    const auto decoded = plan::decode(update->plan(), &second);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(plan::hash(*decoded), plan::hash(pinglist_->plan)) << "both changes in one";
  }
}

// The heartbeat that confirms a plan may come only after the plan before it is back in force.
TEST_F(ControlServerTest, APlanThatComesBackIsPushedThoughNoHeartbeatCameBetween) {
  usePlan(kMesh);
  const plan::Plan first = pinglist_->plan;
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1", 1, plan::hash(first)));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRegistered));
  now_.mono += ControlServer::kCoalesce;
  usePlan("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-4]'] }\n");
  const plan::Plan second = pinglist_->plan;
  ASSERT_TRUE(expect(dealer, ControllerMessage::kPlan));
  now_.mono += ControlServer::kCoalesce;
  usePlan(kMesh);
  const auto update = expect(dealer, ControllerMessage::kPlan);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->plan().base_hash(), plan::hash(second));
}

// Agents do not wait until the states of all pairs are derived again, which can take seconds.
TEST_F(ControlServerTest, APlanIsPushedBeforeTheGridHasIt) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kPlan));
  now_.mono += ControlServer::kCoalesce;
  const auto next = test::pinglistOf("  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-4]'] }\n");
  server_.setPlan({next, &next->plan}, now_);
  EXPECT_TRUE(dealer.expect(ControllerMessage::kPlan, [] {})) << "without a turn of the loop";
}

TEST_F(ControlServerTest, AHeartbeatTellsThatThePlanIsNotThereYet) {
  usePlan(kMesh);
  now_.mono += ControlServer::kCoalesce;
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kPlan));
  wire::AgentMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_incarnation(1);
  heartbeat.mutable_heartbeat()->set_agent_mono_ns(42);
  heartbeat.mutable_heartbeat()->mutable_status()->set_stalls(3);
  dealer.send(heartbeat);
  const auto reply = expect(dealer, ControllerMessage::kHeartbeatReply);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->heartbeat_reply().agent_mono_ns(), 42);
  EXPECT_GT(reply->heartbeat_reply().controller_utc_ns(), now_.utc - kSecond);
  EXPECT_EQ(registry_.find("a")->info.stalls, 3U);
  EXPECT_FALSE(dealer.receive()) << "it is on its way";
  now_.mono += ControlServer::kPushAgain + kSecond;
  dealer.send(heartbeat);
  EXPECT_TRUE(expect(dealer, ControllerMessage::kPlan));
}

TEST_F(ControlServerTest, WithoutAPinglistAgentsKeepTheirPlan) {
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1", 1, 77));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRegistered));
  now_.mono += kSecond;
  turn();
  EXPECT_FALSE(dealer.receive());
}

TEST_F(ControlServerTest, ABatchIsAcknowledgedOnceItIsCommittedAndCountedOnce) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1", 5));
  dealer.send(batchOf({5, 1}, {report()}));
  const auto ack = expect(dealer, ControllerMessage::kAck);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->ack().incarnation(), 5U);
  EXPECT_EQ(ack->ack().sequence(), 1U);
  EXPECT_EQ(board_.source(0, 0, 1)->rows->rows[1].received, 10U);
  dealer.send(batchOf({5, 1}, {report()}));
  dealer.send(batchOf({4, 9}, {report()}));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck));
  EXPECT_EQ(intake_.counters().batches_committed, 1U);
  EXPECT_EQ(intake_.counters().batches_duplicate, 2U);
  EXPECT_EQ(intake_.counters().rows_committed, 1U);
  dealer.send(registration("a", "10.0.0.1", 5));
  const auto registered = expect(dealer, ControllerMessage::kRegistered);
  ASSERT_TRUE(registered);
  EXPECT_EQ(registered->registered().acked_sequence(), 1U);
}

TEST_F(ControlServerTest, ABadReportIsRefusedAndTheRestOfItsBatchIsTaken) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  wire::Report wrong_counts = report();
  wrong_counts.mutable_rows(0)->set_sent(99);
  wire::Report foreign_source = report();
  foreign_source.set_source(test::ip("10.0.0.2").wire());
  wire::Report bad_head = report();
  bad_head.set_clock(9);
  const wire::Report ahead = report(static_cast<std::uint64_t>(-100));
  dealer.send(batchOf({1, 1}, {wrong_counts, report(), foreign_source, bad_head, ahead}));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRefused));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck)) << "it would come again for ever";
  EXPECT_EQ(server_.refusedByReason()[Refused::BAD_MESSAGE], 4U);
  EXPECT_EQ(intake_.counters().refused, (ReportFaults{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(intake_.counters().rows_committed, 1U);
  EXPECT_EQ(board_.source(0, 1, 1)->rows, nullptr) << "10.0.0.2 is not its address";
}

TEST_F(ControlServerTest, AClockThatWasSetBackMakesNoWindowOneOfTheFuture) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRegistered));
  const wire::Report as_agents_count = report();
  now_.utc -= kHour;
  now_.mono += 10 * kSecond;
  dealer.send(batchOf({1, 1}, {as_agents_count}));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck));
  EXPECT_EQ(intake_.counters().refused, ReportFaults{});
  EXPECT_EQ(intake_.counters().rows_committed, 1U);
  const wire::Report ahead = report(static_cast<std::uint64_t>(-500));
  dealer.send(batchOf({1, 2}, {ahead}));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck));
  EXPECT_EQ(intake_.counters().rows_committed, 1U) << "beyond the old clock, too";
}

TEST_F(ControlServerTest, BadBatchesAreNotSentForEverNorDoTheyHoldUpLaterOnes) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  // The identity, a report that is no message, and the rest of the batch missing.
  const std::string broken("\x1a\x09\x08\x01\x10\x01\x1a\x01\xff\x1a\x7f", 11);
  dealer.send(broken);
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRefused));
  const auto ack = expect(dealer, ControllerMessage::kAck);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->ack().sequence(), 1U) << "with nothing of it";
  EXPECT_EQ(intake_.counters().refused, (ReportFaults{1, 1, 0, 0, 0, 0}));
  // Without an identity there is nothing to acknowledge; a later batch covers it.
  EXPECT_EQ(refusalOf(dealer, std::string("\x1a\x02\x1a\x7f", 4)), Refused::BAD_MESSAGE);
  EXPECT_EQ(intake_.counters().refused[0], 2U);
  dealer.send(batchOf({1, 3}, {report()}));
  const auto later = expect(dealer, ControllerMessage::kAck);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->ack().sequence(), 3U);
  EXPECT_EQ(intake_.counters().rows_committed, 1U);
}

TEST_F(ControlServerTest, ABatchToBeShownIsShownAndNoMore) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRegistered));
  std::string live = batchOf({1, 9}, {report()});
  live[0] = '\x2a';
  dealer.send(live);
  ASSERT_TRUE(test::eventually([&] {
    turn();
    return intake_.counters().batches_shown == 1;
  }));
  EXPECT_EQ(board_.source(0, 0, 1)->rows->rows[1].received, 10U);
  dealer.send(batchOf({1, 1}, {report(3)}));
  const auto ack = expect(dealer, ControllerMessage::kAck);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->ack().sequence(), 1U) << "9 was shown, not committed";
  EXPECT_EQ(board_.source(0, 0, 1)->rows->window_index, currentIndex() - 1)
      << "a replayed window does not replace a newer one";
  dealer.send(batchOf({1, 9}, {report()}));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kAck));
  EXPECT_EQ(intake_.counters().rows_committed, 2U) << "counted once";
  Dealer stranger(socket_->address());
  EXPECT_EQ(refusalOf(stranger, live), Refused::NOT_REGISTERED);
  live = batchOf({2, 1}, {report()});
  live[0] = '\x2a';
  EXPECT_EQ(refusalOf(dealer, live), Refused::BAD_MESSAGE) << "of a later incarnation";
}

TEST_F(ControlServerTest, ALiveDuplicateIsRefusedAndAGoodbyeFreesAtOnce) {
  Dealer first(socket_->address());
  first.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(first, ControllerMessage::kRegistered));
  Dealer second(socket_->address());
  EXPECT_EQ(refusalOf(second, registration("a", "10.0.0.9", 2).SerializeAsString()),
            Refused::DUPLICATE_HOST);
  EXPECT_EQ(refusalOf(second, registration("b", "10.0.0.1").SerializeAsString()),
            Refused::DUPLICATE_ADDRESS);
  wire::AgentMessage goodbye;
  goodbye.mutable_goodbye()->set_incarnation(1);
  first.send(goodbye);
  EXPECT_EQ(refusalOf(first, batchOf({1, 1}, {})), Refused::NOT_REGISTERED);
  second.send(registration("b", "10.0.0.1"));
  EXPECT_TRUE(expect(second, ControllerMessage::kRegistered));
}

TEST_F(ControlServerTest, HostileMessagesAreRefusedAndCounted) {
  usePlan(kMesh);
  Dealer stranger(socket_->address());
  Dealer agent(socket_->address());
  agent.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(agent, ControllerMessage::kRegistered));
  wire::AgentMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_incarnation(1);
  wire::AgentMessage other_incarnation;
  other_incarnation.mutable_heartbeat()->set_incarnation(2);
  wire::AgentMessage future = registration("z", "10.0.0.3");
  future.mutable_registration()->set_control_version(9);
  const std::string good = batchOf({1, 1}, {report()});
  const struct {
    const char* what;
    Dealer* from;
    std::string bytes;
    Refused::Reason reason;
  } table[] = {
      {"nothing", &agent, "", Refused::BAD_MESSAGE},
      {"nothing, by nobody", &stranger, "", Refused::NOT_REGISTERED},
      {"noise", &stranger, "\xff\xff\xff\xff\xff\xff", Refused::BAD_MESSAGE},
      {"an unknown kind", &stranger, std::string("\x7a\x00", 2), Refused::NOT_REGISTERED},
      {"a kind of the future, by an agent", &agent, std::string("\x7a\x00", 2),
       Refused::BAD_MESSAGE},
      {"a heartbeat of nobody", &stranger, heartbeat.SerializeAsString(), Refused::NOT_REGISTERED},
      {"a batch of nobody", &stranger, good, Refused::NOT_REGISTERED},
      {"another incarnation", &agent, other_incarnation.SerializeAsString(),
       Refused::NOT_REGISTERED},
      {"a version of the future", &stranger, future.SerializeAsString(), Refused::BAD_VERSION},
      {"a batch cut short", &agent, good.substr(0, good.size() / 2), Refused::BAD_MESSAGE},
      {"a batch of a later incarnation", &agent, batchOf({2, 1}, {report()}), Refused::BAD_MESSAGE},
      {"a batch without sequence", &agent, batchOf({1, 0}, {report()}), Refused::BAD_MESSAGE},
      {"a large message that is no batch", &stranger,
       std::string("\x0a\x80\x80\x20") + std::string(512 * 1024, '\0'), Refused::BAD_MESSAGE},
  };
  auto expected = server_.refusedByReason();
  for (const auto& line : table) {
    EXPECT_EQ(refusalOf(*line.from, line.bytes), line.reason) << line.what;
    ++expected[line.reason];
  }
  EXPECT_EQ(server_.refusedByReason(), expected);
  stranger.send("two", true);
  EXPECT_EQ(refusalOf(stranger, "frames"), Refused::BAD_MESSAGE);
  EXPECT_EQ(intake_.counters().batches_committed, 0U);
  agent.send(good);
  EXPECT_TRUE(expect(agent, ControllerMessage::kAck)) << "the agent is served as before";
}

TEST_F(ControlServerTest, AMessageBeyondTheLimitEndsItsConnectionOnly) {
  Dealer large(socket_->address());
  large.send(std::string(net::RouterOptions().largest + 1, '\x1a'));
  Dealer agent(socket_->address());
  agent.send(registration("a", "10.0.0.1"));
  EXPECT_TRUE(expect(agent, ControllerMessage::kRegistered));
  EXPECT_EQ(server_.messagesRefused(), 0U) << "it never got here";
}

TEST_F(ControlServerTest, BatchesThatCouldNotBeCommittedAreAskedForAgain) {
  usePlan(kMesh);
  Dealer dealer(socket_->address());
  dealer.send(registration("a", "10.0.0.1"));
  ASSERT_TRUE(expect(dealer, ControllerMessage::kRegistered));
  registry_.find("a")->suspended = true;
  dealer.send(batchOf({1, 3}, {report()}));
  wire::AgentMessage heartbeat;
  heartbeat.mutable_heartbeat()->set_incarnation(1);
  now_.mono += 3 * kSecond;
  dealer.send(heartbeat);
  const auto nudged = expect(dealer, ControllerMessage::kRefused);
  ASSERT_TRUE(nudged);
  EXPECT_EQ(nudged->refused().reason(), Refused::NOT_REGISTERED);
  EXPECT_EQ(board_.source(0, 0, 1)->rows->rows[1].received, 10U) << "live service goes on";
  EXPECT_EQ(marks_.committedUpTo("a"), wire::BatchId{})
      << "but 3 must not be committed before 1 and 2";
  dealer.send(registration("a", "10.0.0.1"));
  for (std::uint64_t i = 1; i <= 3; ++i) dealer.send(batchOf({1, i}, {report()}));
  std::uint64_t acknowledged = 0;
  while (acknowledged < 3) {
    const auto ack = expect(dealer, ControllerMessage::kAck);
    ASSERT_TRUE(ack);
    acknowledged = ack->ack().sequence();
  }
  EXPECT_EQ(intake_.counters().batches_committed, 3U);
}

}  // namespace
}  // namespace pingloom::controller::control_server_test
