// The whole control plane in one process, with its own redis-server, driven over ZeroMQ.
#include "controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "plan/plan_codec.h"
#include "unit/common/fake_service_manager.h"
#include "unit/controller/dealer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::controller_test {
namespace {

using test::batchOf;
using test::Dealer;
using test::eventually;
using test::goodRow;
using test::reportOf;
using wire::ControllerMessage;

class ControllerTest : public testing::Test {
 protected:
  ControllerTest() {
    config_.pinglist = folder_ / "pinglist.yaml";
    config_.control = {IpAddress::fromV4(0x7f000001), 0};
    config_.state_dir = folder_ / "state";
    config_.redis.path = folder_ / "redis.sock";
    writePinglist("10.0.0.[1-3]");
  }
  ~ControllerTest() override { stop(); }

  void writePinglist(const std::string& members) const {
    writePinglistTo(config_.pinglist, members);
  }
  void writePinglistTo(const std::filesystem::path& file, const std::string& members) const {
    const auto temporary = folder_ / "pinglist.tmp";
    std::ofstream(temporary) << "version: 1\nprobes:\n  - { name: udp, protocol: udp, mesh: ['"
                             << members << "'] }\n";
    std::filesystem::rename(temporary, file);
  }
  // The thread that starts the embedded Redis has to be the one that lives: the loop's.
  void start() {
    thread_ = std::thread([this] {
      auto started = Controller::start(config_);
      ASSERT_TRUE(started) << started.error().text();
      controller_ = started->get();
      address_ = controller_->controlAddress();
      ready_ = true;
      while ((*started)->run(manager_) == ServiceManager::Asked::kReload) {
        (*started)->reload(config_);
      }
      ready_ = false;
    });
    ASSERT_TRUE(eventually([&] { return ready_.load(); }));
  }
  void stop() {
    if (!thread_.joinable()) return;
    manager_.ask(ServiceManager::Asked::kStop);
    thread_.join();
  }
  Board& board() { return controller_->board(); }
  std::string stateOf(std::uint32_t source, std::uint32_t destination) {
    const auto snapshot = board().source(0, source, board().plan()->generation);
    return snapshot == nullptr ? "" : std::string(name(*snapshot->states.at(destination)));
  }
  void registerAgent(Dealer& dealer, std::uint64_t incarnation = 1) {
    wire::AgentMessage message;
    *message.mutable_registration() = test::registerOf("a", incarnation, {"10.0.0.1"});
    dealer.send(message);
    ASSERT_TRUE(dealer.expect(ControllerMessage::kRegistered));
  }
  wire::Report report() const {
    const auto index = static_cast<std::uint64_t>(utcNow() / (10 * kSecond));
    return reportOf("udp", "10.0.0.1", index - 1, {goodRow("10.0.0.2"), goodRow("10.0.0.3")});
  }

  test::TemporaryDirectory folder_;
  Config config_;
  pingloom::test::FakeServiceManager manager_;
  std::thread thread_;
  Controller* controller_ = nullptr;
  SocketAddress address_;  // agents connect to it
  std::atomic<bool> ready_{false};
};

TEST_F(ControllerTest, FromZeroMqToTheBoardAndRedis) {
  start();
  Dealer dealer(address_);
  registerAgent(dealer);
  ASSERT_TRUE(dealer.expect(ControllerMessage::kPlan));
  dealer.send(batchOf({1, 1}, {report()}));
  ASSERT_TRUE(dealer.expect(ControllerMessage::kAck));
  EXPECT_TRUE(eventually([&] { return stateOf(0, 1) == "ok"; }));
  EXPECT_TRUE(eventually([&] { return board().redis()->rows_written >= 2; }));
  EXPECT_TRUE(eventually([&] { return board().control()->rows_committed == 2; }));
  EXPECT_TRUE(eventually([&] { return !board().hosts()->empty(); }));
  EXPECT_TRUE(board().control()->history.writing);
}

TEST_F(ControllerTest, ASavedPinglistReachesTheAgentsAndABadOneDoesNot) {
  start();
  Dealer dealer(address_);
  registerAgent(dealer);
  const auto first = dealer.expect(ControllerMessage::kPlan);
  ASSERT_TRUE(first);
  const auto base = plan::decode(first->plan(), nullptr);
  ASSERT_TRUE(base);
  std::ofstream(config_.pinglist) << "version: 1\nprobes: [{ name: udp, protcol: udp }]\n";
  ASSERT_TRUE(eventually([&] { return board().control()->pinglist_rejections > 0; }));
  EXPECT_THAT(board().control()->pinglist_error, testing::HasSubstr("pinglist.yaml:2"));
  EXPECT_EQ(board().plan()->probes[0].sources.size(), 3U) << "the one before stays in force";
  writePinglist("10.0.0.[1-4]");
  const auto update = dealer.expect(ControllerMessage::kPlan);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->plan().base_hash(), plan::hash(*base));
  EXPECT_TRUE(plan::decode(update->plan(), &*base));
  EXPECT_TRUE(eventually([&] { return board().control()->pinglist_error.empty(); }));
  EXPECT_EQ(board().plan()->probes[0].sources.size(), 4U);
}

TEST_F(ControllerTest, StartsWithoutAValidPinglistAndTakesItLater) {
  std::ofstream(config_.pinglist) << "nonsense";
  start();
  EXPECT_EQ(board().plan()->pinglist, nullptr);
  EXPECT_FALSE(board().control()->pinglist_error.empty());
  EXPECT_TRUE(eventually([&] { return board().redis()->connected; }));
  EXPECT_FALSE(manager_.ready());
  EXPECT_EQ(manager_.status(), "no pinglist is in force; the log says why");
  Dealer dealer(address_);
  registerAgent(dealer);
  writePinglist("10.0.0.[1-2]");
  EXPECT_TRUE(dealer.expect(ControllerMessage::kPlan));
  EXPECT_TRUE(eventually([&] { return manager_.ready(); }));
}

// An agent that registers is probed with no edit, and a restart of the controller changes nothing.
TEST_F(ControllerTest, RegisteredAgentsBecomeMembers) {
  std::ofstream(config_.pinglist)
      << "version: 1\ngroups: { all: { members: registered } }\n"
         "probes:\n  - { name: udp, protocol: udp, mesh: [all, 10.0.0.2] }\n";
  start();
  EXPECT_EQ(board().plan()->probes[0].sources.size(), 1U);
  Dealer dealer(address_);
  registerAgent(dealer);
  ASSERT_TRUE(eventually([&] { return board().plan()->probes[0].sources.size() == 2; }));
  const std::uint64_t hash = board().plan()->hash;
  auto plan = dealer.expect(ControllerMessage::kPlan);
  while (plan && plan->plan().hash() != hash) plan = dealer.expect(ControllerMessage::kPlan);
  ASSERT_TRUE(plan) << "the agent gets the plan that it is a member of";
  EXPECT_EQ(board().plan()->nameOf(test::ip("10.0.0.1")), "a");
  EXPECT_TRUE(eventually([&] { return board().control()->members == 1; }));
  stop();
  start();
  EXPECT_EQ(board().plan()->hash, hash) << "before anybody has registered again";
}

TEST_F(ControllerTest, AReloadTakesAnotherPinglistFile) {
  start();
  EXPECT_TRUE(eventually([&] { return board().plan()->probes.size() == 1; }));
  config_.pinglist = folder_ / "other.yaml";
  writePinglist("10.0.0.[1-7]");
  manager_.ask(ServiceManager::Asked::kReload);
  EXPECT_TRUE(eventually([&] { return board().plan()->probes[0].sources.size() == 7; }));
  writePinglist("10.0.0.[1-5]");
  EXPECT_TRUE(eventually([&] { return board().plan()->probes[0].sources.size() == 5; }));
}

TEST_F(ControllerTest, AReloadToAPinglistWithAMistakeChangesNothing) {
  start();
  ASSERT_TRUE(eventually([&] { return board().control()->pinglist_loaded_utc != 0; }));
  const auto before = board().control();
  const auto good = config_.pinglist;
  config_.pinglist = folder_ / "other.yaml";
  std::ofstream(config_.pinglist) << "version: 1\nprobes: [\n";
  manager_.ask(ServiceManager::Asked::kReload);
  writePinglistTo(good, "10.0.0.[1-4]");
  EXPECT_TRUE(eventually([&] { return board().control()->pinglist_reloads == 1; }))
      << "the one in force is still watched";
  writePinglistTo(good, "10.0.0.[1-5]");
  EXPECT_TRUE(eventually([&] { return board().control()->pinglist_reloads == 2; }));
  EXPECT_EQ(board().control()->pinglist_path, before->pinglist_path);
  EXPECT_EQ(board().plan()->probes[0].sources.size(), 5U);
}

TEST_F(ControllerTest, TheGridAndTheMarksSurviveARestart) {
  start();
  {
    Dealer dealer(address_);
    registerAgent(dealer);
    dealer.send(batchOf({1, 1}, {report()}));
    ASSERT_TRUE(dealer.expect(ControllerMessage::kAck));
  }
  stop();
  start();
  EXPECT_EQ(stateOf(0, 1), "stale") << "its agent is not back yet";
  Dealer dealer(address_);
  registerAgent(dealer);
  EXPECT_TRUE(eventually([&] { return stateOf(0, 1) == "ok"; }));
  dealer.send(batchOf({1, 1}, {report()}));
  const auto ack = dealer.expect(ControllerMessage::kAck);
  ASSERT_TRUE(ack);
  EXPECT_TRUE(eventually([&] { return board().control()->batches_duplicate == 1; }));
  EXPECT_EQ(board().control()->batches_committed, 0U);
}

TEST_F(ControllerTest, TheGridComesBackAlsoWhenThePinglistIsMendedLater) {
  start();
  {
    Dealer dealer(address_);
    registerAgent(dealer);
    dealer.send(batchOf({1, 1}, {report()}));
    ASSERT_TRUE(dealer.expect(ControllerMessage::kAck));
  }
  stop();
  std::ofstream(config_.pinglist) << "nonsense";
  start();
  ASSERT_EQ(board().plan()->pinglist, nullptr);
  writePinglist("10.0.0.[1-3]");
  EXPECT_TRUE(eventually([&] {
    return board().plan()->generation == 1 && stateOf(0, 1) == "stale";
  })) << "its agent is not back yet";
  EXPECT_EQ(board().source(0, 0, 1)->rows->rows[1].received, 10U);
  EXPECT_EQ(stateOf(1, 0), "pending") << "nothing was ever known of it";
  Dealer dealer(address_);
  registerAgent(dealer);
  EXPECT_TRUE(eventually([&] { return stateOf(0, 1) == "ok"; }));
}

TEST_F(ControllerTest, TwoControllersDoNotShareAStateDir) {
  start();
  const auto second = Controller::start(config_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), testing::HasSubstr("another controller"));
}

}  // namespace
}  // namespace pingloom::controller::controller_test
