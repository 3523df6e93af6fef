// What agents say at one controller reaches another one, over real sockets, on a clock of the
// test's own.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "controller/control/presence_log.h"
#include "unit/controller/relay/relay_fixture.h"
#include "unit/controller/same_shown_row.h"
#include "wire/path_codec.h"

namespace pingloom::controller::relay_test {
namespace {

using test::goodRow;
using test::ip;
using test::lossRow;

TEST_F(RelayTest, AnotherControllerShowsWhatAgentsSayAndKeepsNothingOfIt) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  EXPECT_THAT(others_->heard(), testing::ElementsAre("home"));
  ASSERT_TRUE(comes([&] { return relayed("a")->pings_sent == 42; }));
  dealer.send(batch(1, {goodRow("10.0.0.2"), lossRow("10.0.0.3")}));
  ASSERT_TRUE(comes([&] {
    return other_.states() == home_.states() && other_.intake.counters().batches_relayed == 1;
  }));
  EXPECT_EQ(other_.states()[0], PairState::kOk);
  EXPECT_EQ(other_.grid.takeSeverities().size(), 0U);
  EXPECT_EQ(home_.grid.takeSeverities().size(), 1U);
  EXPECT_EQ(other_.registry.present(), 0U);
  EXPECT_EQ(home_.registry.present(), 1U);

  now_.utc += kWindow;
  dealer.send(batch(2, {lossRow("10.0.0.2"), lossRow("10.0.0.3")}));
  ASSERT_TRUE(comes([&] { return other_.intake.counters().batches_relayed == 2; }));
  EXPECT_EQ(other_.states(), home_.states());
  EXPECT_NE(other_.states()[0], PairState::kOk);
  EXPECT_FALSE(home_.events.take(now_.utc).empty());
  EXPECT_TRUE(other_.events.empty());
}

TEST_F(RelayTest, OneThatBeginsGetsAgentsAndPathsThatAreKnown) {
  Dealer dealer(socket_->address());
  talking_.clear();
  wire::AgentMessage message;
  *message.mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
  dealer.send(message);
  TracedPath traced;
  traced.probe = "udp";
  traced.source = ip("10.0.0.1");
  traced.destination = ip("10.0.0.2");
  traced.end = PathEnd::kReached;
  traced.traced = now_.utc;
  traced.hops.push_back({ip("10.1.0.1"), 1000});
  wire::AgentMessage paths;
  wire::encode(traced, *paths.mutable_paths()->add_paths());
  dealer.send(paths);
  ASSERT_TRUE(test::eventually([&] {
    server_.receive(now_);
    return home_.board.paths().size() == 1;
  }));
  ASSERT_TRUE(comes([&] { return known("a") && other_.board.paths().size() == 1; }));
  EXPECT_TRUE(other_.paths.takeChanges(now_.utc + kHour).empty());
}

TEST_F(RelayTest, OneThatIsThereIsFollowedWithoutAPause) {
  EXPECT_TRUE(test::eventually([&] {
    turn();  // the clock stands still
    return others_->heard() == std::vector<std::string>{"home"};
  }));
}

TEST_F(RelayTest, OneThatIsNotKnownYetAsksAgainSoon) {
  const auto known_by_all = home_.board.cluster();
  auto alone = *known_by_all;
  alone.members.pop_back();
  home_.board.publishCluster(std::make_shared<const ClusterStatus>(alone));
  const Nanos began = now_.mono;
  int turns = 0;
  EXPECT_TRUE(test::eventually([&] {
    turn(kMillisecond);
    if (++turns == 100) home_.board.publishCluster(known_by_all);
    return others_->heard() == std::vector<std::string>{"home"};
  }));
  EXPECT_GE(turns, 100);
  EXPECT_LT(now_.mono - began, kSecond);
}

TEST_F(RelayTest, GoneAndBack) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  const auto silent = std::exchange(talking_, {});
  ASSERT_TRUE(comes([&] { return known("a", false); }));
  talking_ = silent;
  ASSERT_TRUE(comes([&] { return known("a"); }));
  EXPECT_EQ(other_.registry.find("a")->present_since_utc,
            home_.registry.find("a")->present_since_utc);
}

TEST_F(RelayTest, AgentsOfALostControllerAreGoneAfterAWhile) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  home_runs_ = false;
  for (int i = 0; i < 60; ++i) turn(kSecond);
  EXPECT_TRUE(others_->heard().empty());
  EXPECT_TRUE(known("a")) << "its controller is a member, and its agents may be well";
  ClusterStatus alone = *other_.board.cluster();
  alone.members.erase(alone.members.begin());
  other_.board.publishCluster(std::make_shared<const ClusterStatus>(alone));
  turn(kSecond);
  EXPECT_TRUE(known("a", false)) << "nobody has it";
}

TEST_F(RelayTest, OneThatHasLostItsSessionIsHeardAsLongAsItTells) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  ClusterStatus alone = *other_.board.cluster();
  alone.members.erase(alone.members.begin());
  other_.board.publishCluster(std::make_shared<const ClusterStatus>(alone));
  for (int i = 0; i < 30; ++i) {
    turn(kSecond);
    const Nanos since = now_.mono;
    ASSERT_TRUE(test::eventually([&] {
      turn(RelayFeed::kGather);
      say(talking_[0]);
      return other_.registry.find("a")->heard_mono >= since;
    }));
  }
  EXPECT_TRUE(known("a"));
  EXPECT_THAT(others_->heard(), testing::ElementsAre("home"));
}

TEST_F(RelayTest, AnAgentThatMovesIsNoAbsence) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  PresenceLog log(now_.utc);
  (void)log.take();
  const std::array<IpAddress, 1> address = {ip("10.0.0.1")};
  log.note(other_.registry, address, now_);
  EXPECT_TRUE(log.take().empty()) << "its controller notes it";
  ASSERT_TRUE(
      other_.registry.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_));
  log.note(other_.registry, address, now_);
  const auto records = log.take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].kind, PresenceRecord::Kind::kStayed);
  EXPECT_EQ(records[0].utc, now_.utc);
}

TEST_F(RelayTest, OfTwoControllersTheOneIsRightWithWhichItHasJustRegistered) {
  wire::RelayedAgent told;
  *told.mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
  told.set_alive(true);
  ASSERT_NE(other_.registry.takeRelayed(told, "home", now_), nullptr);
  EXPECT_EQ(other_.registry.takeRelayed(told, "third", now_), nullptr) << "it may have woken up";
  told.set_fresh(true);
  ASSERT_NE(other_.registry.takeRelayed(told, "third", now_), nullptr);
  EXPECT_EQ(relayed("a")->controller, "third");
  // One that is silent here has gone there.
  auto* here =
      *other_.registry.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_);
  EXPECT_EQ(other_.registry.takeRelayed(told, "third", now_), nullptr);
  now_.mono += 2 * kHeartbeatInterval;
  EXPECT_EQ(other_.registry.takeRelayed(told, "third", now_), here);
  EXPECT_TRUE(here->info.alive);
}

TEST_F(RelayTest, AControllerServesOnceItHasToldEverythingInItsSession) {
  const auto serviceOf = [&](const std::string& name, std::int64_t session) {
    ClusterMember member;
    member.name = name;
    member.session = session;
    return others_->serviceOf(member);
  };
  home_runs_ = false;
  ASSERT_TRUE(comes([&] { return serviceOf("home", 1) == Homes::Service::kStarting; }));
  home_runs_ = true;
  ASSERT_TRUE(comes([&] { return serviceOf("home", 1) == Homes::Service::kServes; }));
  EXPECT_EQ(serviceOf("home", 9), Homes::Service::kStarting) << "it has started again";
  EXPECT_EQ(serviceOf("third", 3), Homes::Service::kUnreachable);
}

TEST_F(RelayTest, OneThatGetsASessionFollowsAtOnce) {
  auto status = *other_.board.cluster();
  status.session = 0;
  other_.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  for (int i = 0; i < 10; ++i) turn(kSecond / 5);
  EXPECT_TRUE(others_->heard().empty());
  status.session = 2;
  other_.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  EXPECT_TRUE(test::eventually([&] {
    turn();  // no time passes
    return !others_->heard().empty();
  }));
}

TEST_F(RelayTest, WhereAnAgentWasSentIsTold) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  addThird();
  feed_.moved(*home_.registry.find("a"), "third", now_);
  EXPECT_TRUE(comes([&] { return relayed("a")->controller == "third"; }));
  EXPECT_TRUE(relayed("a")->alive);
}

// A controller that has just begun tells its agents to those that follow it from now on, and not as
// agents that have just registered. This one may not have read yet that it is a member.
TEST_F(RelayTest, AnAgentIsTakenFromTheControllerThatItWasSentTo) {
  wire::RelayedAgent told;
  *told.mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
  told.set_alive(true);
  ASSERT_NE(other_.registry.takeRelayed(told, "home", now_), nullptr);
  wire::Relays batch;
  wire::Relay& relay = *batch.add_relays();
  relay.set_host("a");
  const auto index = static_cast<std::uint64_t>(now_.utc / kWindow) - 1;
  relay.mutable_batch()->set_incarnation(7);
  *relay.mutable_batch()->add_reports()->mutable_head() =
      test::reportOf("udp", "10.0.0.1", index, {});
  EXPECT_TRUE(intake_.take("third", batch, now_));
  EXPECT_EQ(other_.grid.reports(), 0U) << "it is told by its former controller";
  wire::Relays moved;
  moved.add_relays()->set_host("a");
  const auto sentTo = [&](const std::string& name) {
    moved.mutable_relays(0)->mutable_moved()->set_controller(name);
    EXPECT_TRUE(intake_.take("home", moved, now_));
    return relayed("a")->controller;
  };
  EXPECT_EQ(sentTo(""), "home");
  EXPECT_EQ(sentTo(std::string(RelayIntake::kMaxNameBytes + 1, 'x')), "home");
  EXPECT_EQ(sentTo("two\nlines"), "home");
  EXPECT_EQ(sentTo("other"), "home") << "it will register here";
  EXPECT_EQ(sentTo("third"), "third");
  EXPECT_TRUE(relayed("a")->alive);
  EXPECT_TRUE(intake_.take("third", batch, now_));
  EXPECT_EQ(other_.grid.reports(), 1U);
  // What its former controller still says is late.
  EXPECT_TRUE(intake_.take("home", moved, now_));
  EXPECT_NE(other_.registry.takeRelayed(told, "third", now_), nullptr);
  EXPECT_EQ(relayed("a")->controller, "third");
}

TEST_F(RelayTest, OneThatNeverArrivesWhereItWasSentIsGone) {
  Dealer dealer(socket_->address());
  auto* here =
      *other_.registry.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_);
  PresenceLog log(now_.utc);
  (void)log.take();
  const std::array<IpAddress, 1> address = {ip("10.0.0.1")};
  log.note(other_.registry, address, now_);
  EXPECT_EQ(log.take().size(), 1U);
  other_.registry.movedTo(*here, "nobody hears it", now_);
  log.note(other_.registry, address, now_);
  EXPECT_TRUE(log.take().empty());
  const auto unheard = [](const std::string&) { return true; };
  intake_.expire(unheard, now_);
  EXPECT_TRUE(here->info.alive);
  now_.mono += RelayIntake::kLinger;
  now_.utc += RelayIntake::kLinger;
  intake_.expire(unheard, now_);
  EXPECT_FALSE(here->info.alive);
  log.note(other_.registry, address, now_);
  const auto records = log.take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].kind, PresenceRecord::Kind::kGone);
  // It turns out to be with another controller.
  wire::RelayedAgent told;
  *told.mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
  told.set_alive(true);
  ASSERT_EQ(other_.registry.takeRelayed(told, "home", now_), here);
  log.note(other_.registry, address, now_);
  const auto back = log.take();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].kind, PresenceRecord::Kind::kStayed);
  log.noteAll(other_.registry, now_);
  EXPECT_TRUE(log.take().empty()) << "it is not here";
  log.noteAll(home_.registry, now_);
  EXPECT_TRUE(log.take().empty()) << "nobody is there";
}

TEST_F(RelayTest, AgentsAreNotGoneBecauseNobodyListened) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  home_runs_ = false;
  turn(kHour);
  EXPECT_TRUE(known("a"));
}

TEST_F(RelayTest, AnAgentThatIsRefusedDoesNotBeginEverythingAgain) {
  Dealer dealer(socket_->address());
  ASSERT_TRUE(other_.registry.admit(test::registerOf("here", 7, {"10.0.0.1"}), "route",
                                    std::nullopt, now_));
  wire::Relays told;
  wire::Relay& agent = *told.add_relays();
  agent.set_host("a");
  *agent.mutable_agent()->mutable_registration() = test::registerOf("a", 7, {"10.0.0.1"});
  agent.mutable_agent()->set_alive(true);
  EXPECT_TRUE(intake_.take("home", told, now_));
  EXPECT_EQ(relayed("a"), nullptr);
  agent.mutable_heartbeat();
  EXPECT_TRUE(intake_.take("home", told, now_));
  now_.mono += RelayIntake::kRetryRefused;
  EXPECT_FALSE(intake_.take("home", told, now_)) << "the address may be free now";
}

TEST_F(RelayTest, AnAgentThatComesHereIsNotTheOthersAnyMore) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  auto* here =
      *other_.registry.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_);
  EXPECT_EQ(here->info.controller, "");
  wire::Relays told;
  wire::Relay& relay = *told.add_relays();
  relay.set_host("a");
  relay.mutable_gone();
  EXPECT_TRUE(intake_.take("home", told, now_));
  EXPECT_TRUE(here->info.alive);
  EXPECT_EQ(other_.registry.present(), 1U);
  // When it has left again, a heartbeat of it shows that something was missed.
  other_.registry.goodbye(*here);
  relay.mutable_heartbeat();
  EXPECT_FALSE(intake_.take("home", told, now_));
  EXPECT_TRUE(comes([&] { return known("a"); }));
}

TEST_F(RelayTest, OnlyMembersFollow) {
  const auto refusal = [&](const std::string& name, std::int64_t session) {
    wire::AgentMessage message;
    message.mutable_follow()->set_control_version(1);
    message.mutable_follow()->set_controller(name);
    message.mutable_follow()->set_session(session);
    Dealer dealer(socket_->address());
    dealer.send(message);
    const auto answer =
        dealer.expect(wire::ControllerMessage::kRefused, [&] { server_.receive(now_); });
    return answer ? answer->refused().reason() : wire::Refused::UNKNOWN;
  };
  EXPECT_EQ(refusal("other", 1), wire::Refused::NOT_AUTHORIZED);
  EXPECT_EQ(refusal("home", 1), wire::Refused::NOT_AUTHORIZED);
  EXPECT_EQ(refusal("", 0), wire::Refused::NOT_AUTHORIZED);
}

TEST_F(RelayTest, CollectorsAreTold) {
  const auto told = [&](Nanos heard_mono) {
    home_.board.collectorRoster().publish({{"dpu-1", "http://10.0.0.5:1", true, heard_mono}});
    std::map<std::string, ToldCollectors> taken;
    EXPECT_TRUE(comes([&] {
      taken = other_.board.collectorRoster().take();
      return taken.contains("home") && taken.at("home").list[0].heard_mono >= heard_mono;
    }));
    return taken["home"];
  };
  const Nanos first = now_.mono;
  const ToldCollectors collectors = told(first);
  ASSERT_EQ(collectors.list.size(), 1U);
  EXPECT_EQ(collectors.list[0].name, "dpu-1");
  EXPECT_EQ(collectors.list[0].url, "http://10.0.0.5:1");
  EXPECT_LE(collectors.list[0].heard_mono, now_.mono);
  EXPECT_FALSE(collectors.list[0].trusted) << "without keys anybody on the way may have said so";
  EXPECT_TRUE(collectors.same_machine) << "the other one is on loopback";
  EXPECT_GT(now_.mono, first);
  EXPECT_EQ(told(now_.mono).list.size(), 1U);  // each further registration
}

TEST_F(RelayTest, PairsForLinksAreTold) {
  const std::pair first{ip("10.0.0.1"), ip("10.0.0.2")};
  const std::pair second{ip("10.0.0.2"), ip("10.0.0.3")};
  std::vector<CoverPairs> told;
  const auto comes_with = [&](std::size_t pairs) {
    return comes([&] {
      std::ranges::move(others_->takeCovers(), std::back_inserter(told));
      return !told.empty() && told.back().pairs.size() == pairs;
    });
  };
  feed_.covers({{"udp", {first}, "1 1 3 rack"}}, now_);
  ASSERT_TRUE(comes_with(1)) << "who begins later is told, too";
  EXPECT_EQ(told.back().probe, "udp");
  EXPECT_EQ(told.back().inputs, "1 1 3 rack");
  EXPECT_EQ(told.back().pairs[0], first);
  feed_.covers({{"udp", {first, second}, "1 1 3 rack"}}, now_);
  ASSERT_TRUE(comes_with(2));
  EXPECT_EQ(told.back().pairs[1], second);
}

TEST_F(RelayTest, OneThatIsTooSlowBeginsAgain) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  const auto* agent = home_.registry.find("a");
  for (int i = 0; i < 1000 && feed_.restarts() == 0; ++i) {
    wire::RelayedBatch shown;
    shown.add_reports()->set_rows(std::string(RelayFeed::kPieceBytes, 'x'));
    feed_.batch(*agent, std::move(shown), now_);
  }
  EXPECT_EQ(feed_.restarts(), 1U);
  Dealer next(socket_->address());
  registerAgent(next, "b", "10.0.0.2");
  EXPECT_TRUE(comes([&] { return known("b"); }));
  EXPECT_TRUE(known("a"));
}

TEST_F(RelayTest, MalformedRelaysChangeNothing) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  wire::Relays told;
  const auto tell = [&](std::uint64_t incarnation, const wire::Report& head,
                        const std::string& rows) {
    wire::Relay& relay = *told.add_relays();
    relay.set_host("a");
    relay.mutable_batch()->set_incarnation(incarnation);
    *relay.mutable_batch()->add_reports()->mutable_head() = head;
    relay.mutable_batch()->mutable_reports(0)->set_rows(rows);
  };
  const auto index = static_cast<std::uint64_t>(now_.utc / kWindow) - 1;
  const wire::Report good = test::reportOf("udp", "10.0.0.1", index, {});
  tell(0, good, "");
  tell(8, good, "");  // later than the agent
  tell(7, {}, "");
  tell(7, test::reportOf("udp", "10.0.0.1", index + 100, {}), "");
  tell(7, test::reportOf("udp", "10.0.0.3", index, {}), "");
  tell(7, good, "nonsense");
  wire::Relay& another = *told.add_relays();
  another.set_host("b");
  *another.mutable_agent()->mutable_registration() = test::registerOf("b", 7, {"10.0.0.1"});
  another.mutable_agent()->set_alive(true);
  wire::Relay& empty = *told.add_relays();
  empty.mutable_agent();
  EXPECT_TRUE(intake_.take("home", told, now_));
  EXPECT_EQ(relayed("b"), nullptr) << "its address belongs to a live agent";
  EXPECT_TRUE(known("a"));
  EXPECT_EQ(other_.grid.reports(), 0U);
  const ReportFaults refused = {2, 0, 1, 1, 1, 1};
  EXPECT_EQ(other_.intake.counters().relayed_refused, refused);
  EXPECT_EQ(other_.intake.counters().refused, ReportFaults{});
}

TEST_F(RelayTest, WhatIsNotShownIsNotTold) {
  Dealer dealer(socket_->address());
  registerAgent(dealer, "a", "10.0.0.1");
  ASSERT_TRUE(comes([&] { return known("a"); }));
  const auto index = static_cast<std::uint64_t>(now_.utc / kWindow) - 1;
  wire::Row wrong = goodRow("10.0.0.2");
  wrong.set_sent(11);
  const auto report = [](std::uint64_t window, const wire::Row& row) {
    return test::reportOf("udp", "10.0.0.1", window, {row});
  };
  dealer.send(test::batchOf(
      {7, 1}, {report(index, lossRow("10.0.0.2")), report(index - 1, goodRow("10.0.0.2")),  // older
               report(index, wrong)}));
  dealer.send(test::batchOf({7, 2}, {report(index - 2, goodRow("10.0.0.2"))}));
  dealer.send(test::batchOf({7, 3}, {report(index, goodRow("10.0.0.3"))}));
  ASSERT_TRUE(comes([&] { return other_.intake.counters().batches_relayed == 2; }));
  EXPECT_EQ(home_.grid.reports(), 2U);
  EXPECT_EQ(other_.grid.reports(), 2U);
  EXPECT_EQ(other_.intake.counters().relayed_refused, ReportFaults{});
  const auto rows = [](const Side& side) { return side.grid.snapshots()[0][0]->rows->rows; };
  for (const std::size_t destination : {1, 2}) {
    EXPECT_GT(rows(home_)[destination].sent, 0U);
    EXPECT_TRUE(test::sameRow(rows(home_)[destination], rows(other_)[destination]));
  }
  EXPECT_EQ(rows(other_)[1].lost, 10U);
}

}  // namespace
}  // namespace pingloom::controller::relay_test
