// Two controllers of a cluster, of which "other" follows "home", over real sockets and on a clock
// of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/control/control_server.h"
#include "controller/model/grid_plan.h"
#include "controller/relay/other_controllers.h"
#include "unit/controller/dealer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::relay_test {

using test::Dealer;

constexpr const char* kMesh = "  - { name: udp, protocol: udp, mesh: ['10.0.0.[1-3]'] }\n";
constexpr Nanos kWindow = 10 * kSecond;

// What both controllers are made of.
struct Side {
  Side(const std::filesystem::path& folder, Instant now)
      : ledger(std::move(*Ledger::open({folder / "history.sqlite"}, now.utc))),
        marks(ledger->marks()),
        writer(std::move(ledger)) {
    grid.keepEventsIn(events);
    grid.setPlan(makeGridPlan(pinglist, 1), now);
    paths.setPlan(grid.sharedPlan());
  }
  // The states of the pairs of 10.0.0.1.
  std::vector<PairState> states() const {
    std::vector<PairState> made;
    for (const auto& state : grid.snapshots()[0][0]->states) {
      if (state) made.push_back(*state);
    }
    return made;
  }

  std::shared_ptr<const pinglist::Pinglist> pinglist = test::pinglistOf(kMesh);
  Registry registry;
  Board board;
  EventBatch events;
  Grid grid{registry, board};
  std::unique_ptr<Ledger> ledger;
  BatchMarks marks;
  LedgerWriter writer;
  BatchIntake intake{registry, grid, marks, writer};
  BurstBoard bursts;
  PathIntake paths{registry, board};
  CounterLog counters;
};

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    for (Side* side : {&home_, &other_}) {
      ClusterStatus status;
      status.name = side == &home_ ? "home" : "other";
      status.session = side == &home_ ? 1 : 2;
      status.members = {{"home", socket_->address().text(), "", 0, 0, kSecond, 1, true},
                        {"other", "other:1", "", 0, 0, kSecond, 2, false}};
      side->board.publishCluster(std::make_shared<const ClusterStatus>(status));
    }
    server_.setPlan({home_.pinglist, &home_.pinglist->plan}, now_);
  }

  // A turn of both, `passed` later.
  void turn(Nanos passed = 0) {
    now_.mono += passed;
    now_.utc += passed;
    if (home_runs_) {
      server_.receive(now_);
      home_.registry.expire(now_);
      const auto changed = home_.registry.takeChanged();
      home_.grid.presenceChanged(changed);
      server_.presenceChanged(changed, now_);
      home_.grid.runDue(now_);
      server_.runDue(now_);
    }
    others_->run(now_);
    other_.grid.presenceChanged(other_.registry.takeChanged());
    other_.grid.runDue(now_);
  }
  // Time passes by a fifth of a second in each turn, until it holds.
  template <typename Condition>
  bool comes(const Condition& condition) {
    return test::eventually([&] {
      turn(kSecond / 5);
      for (const Agent& agent : talking_) say(agent);
      return condition();
    });
  }

  struct Agent {
    Dealer* dealer;
    wire::AgentMessage heartbeat;
  };
  static void say(const Agent& agent) { agent.dealer->send(agent.heartbeat); }
  // From now on it sends heartbeats.
  void registerAgent(Dealer& dealer, const std::string& host, const std::string& address) {
    wire::AgentMessage message;
    *message.mutable_registration() = test::registerOf(host, 7, {address});
    message.mutable_registration()->set_follows(true);
    dealer.send(message);
    ASSERT_TRUE(comes([&] { return home_.registry.find(host) != nullptr; }));
    wire::AgentMessage heartbeat;
    heartbeat.mutable_heartbeat()->set_incarnation(7);
    heartbeat.mutable_heartbeat()->mutable_status()->set_pings_sent(42);
    talking_.push_back({&dealer, heartbeat});
  }
  // Makes another controller known, which does not run.
  void addThird() {
    auto status = *other_.board.cluster();
    status.members.push_back({"third", "127.0.0.1:1", "", 0, 0, kSecond, 3, false});
    other_.board.publishCluster(std::make_shared<const ClusterStatus>(status));
  }
  const AgentInfo* relayed(const std::string& host) {
    const auto* agent = other_.registry.find(host);
    return agent == nullptr ? nullptr : &agent->info;
  }
  bool known(const std::string& host, bool alive = true) {
    const AgentInfo* info = relayed(host);
    return info != nullptr && info->alive == alive && info->controller == "home";
  }
  std::string batch(std::uint64_t sequence, const std::vector<wire::Row>& rows) {
    const auto index = static_cast<std::uint64_t>(now_.utc / kWindow) - 1;
    return test::batchOf({7, sequence}, {test::reportOf("udp", "10.0.0.1", index, rows)});
  }

  test::TemporaryDirectory folder_;
  test::TemporaryDirectory other_folder_;
  Instant now_{1000 * kSecond, utcNow()};
  Side home_{folder_.path(), now_};
  Side other_{other_folder_.path(), now_};
  static net::RouterOptions fewWait() {
    net::RouterOptions options;
    options.waiting_out = 4;
    return options;
  }
  std::unique_ptr<net::ZmqRouter> socket_ =
      std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}, fewWait()));
  RelayFeed feed_{*socket_, home_.registry, home_.board, 2U << 20};
  ControlServer server_{*socket_,     home_.registry, home_.marks, home_.intake,
                        home_.writer, home_.bursts,   home_.paths, folder_ / "endpoints",
                        now_.mono,    nullptr,        nullptr,     nullptr,
                        nullptr,      &feed_};
  Bursts bursts_{*socket_, other_.registry, other_.bursts};
  RelayIntake intake_{other_.board, other_.registry, other_.intake,
                      other_.paths, other_.counters, bursts_};
  std::unique_ptr<OtherControllers> others_ =
      std::move(*OtherControllers::make(other_.board, intake_, std::nullopt));
  std::vector<Agent> talking_;
  bool home_runs_ = true;
};

}  // namespace pingloom::controller::relay_test
