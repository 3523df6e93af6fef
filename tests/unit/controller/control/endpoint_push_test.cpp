// Registration to table, over real sockets, on a clock of the test's own.
#include "controller/control/endpoint_push.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "unit/controller/dealer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::endpoint_push_test {
namespace {

using test::Dealer;
using test::ip;

// An agent: a connection and the table it has been given.
struct Peer {
  explicit Peer(const SocketAddress& controller) : dealer(controller) {}
  Dealer dealer;
  plan::HeldEndpoints held;
  int updates = 0;
};

class EndpointPushTest : public testing::Test {
 protected:
  static constexpr const char* kRail =
      "  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-9]'] }\n";

  EndpointPushTest() { startController(kRail); }

  // Another run of the same controller: it knows nobody.
  void startController(const char* probes) {
    startWithoutPlan();
    usePlan(probes);
  }
  void startWithoutPlan() {
    push_.reset();
    registry_ = Registry();
    socket_ = std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}));
    push_ = std::make_unique<EndpointPush>(*socket_, registry_, folder_ / "endpoints", mono_);
  }
  void usePlan(const std::string& probes) {
    push_->setPlan(std::make_shared<const plan::Plan>(test::pinglistOf(probes)->plan), now());
    pass(EndpointPush::kMaxCoalesce);
  }
  Instant now() const { return {mono_, mono_}; }
  void pass(Nanos time) {
    mono_ += time;
    push_->changed(registry_.takeChanged(), now());
    push_->runDue(now());
  }
  // As ControlServer does it.
  void registerPeer(Peer& peer, const std::string& address, std::uint32_t qpn,
                    std::uint64_t incarnation = 1, std::uint32_t lid = 0) {
    auto request = test::registerOf("host-" + address, incarnation, {address});
    if (qpn != 0) test::addEndpoint(request, address, qpn);
    if (lid != 0) request.mutable_endpoints(0)->set_lid(lid);
    request.set_endpoints_controller(peer.held.version.controller);
    request.set_endpoints_version(peer.held.version.number);
    request.set_endpoints_scope(peer.held.version.scope);
    wire::AgentMessage message;
    *message.mutable_registration() = request;
    peer.dealer.send(message);
    std::optional<net::ZmqRouter::Message> arrived;
    ASSERT_TRUE(test::eventually([&] { return (arrived = socket_->receive()).has_value(); }));
    const auto admitted = registry_.admit(request, arrived->route, std::nullopt, now());
    ASSERT_TRUE(admitted) << admitted.error().text;
    push_->registered(**admitted, request, now());
    push_->changed(registry_.takeChanged(), now());
    push_->push(**admitted);
  }
  // Takes updates until the peer has the current version.
  void follow(Peer& peer) {
    ASSERT_TRUE(test::eventually([&] {
      take(peer);
      return peer.held.version.number == push_->version();
    }));
  }
  void take(Peer& peer) {
    while (const auto message = peer.dealer.receive()) {
      ASSERT_TRUE(message->has_endpoints());
      auto next = plan::apply(message->endpoints(), peer.held);
      ASSERT_TRUE(next) << next.error().text();
      peer.held = std::move(*next);
      ++peer.updates;
    }
  }
  static std::uint32_t qpnOf(const Peer& peer, const std::string& address) {
    const auto found = peer.held.table->find(ip(address));
    return found == peer.held.table->end() ? 0 : found->second.qpn;
  }

  Nanos mono_ = 1000 * kSecond;
  test::TemporaryDirectory folder_;
  std::unique_ptr<net::ZmqRouter> socket_;
  Registry registry_;
  std::unique_ptr<EndpointPush> push_;
};

TEST_F(EndpointPushTest, ARestartedAgentsQueuePairReachesItsPeers) {
  Peer a(socket_->address());
  Peer b(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  registerPeer(b, "10.0.0.2", 18);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  follow(b);
  EXPECT_EQ(qpnOf(a, "10.0.0.2"), 18U);
  EXPECT_EQ(qpnOf(b, "10.0.0.1"), 17U);
  EXPECT_EQ(a.updates, 1) << "both registrations in one";
  Peer restarted(socket_->address());
  registerPeer(restarted, "10.0.0.2", 99, 2);
  take(a);
  EXPECT_EQ(qpnOf(a, "10.0.0.2"), 18U) << "others may follow";
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  EXPECT_EQ(qpnOf(a, "10.0.0.2"), 99U);
  EXPECT_EQ(a.held.table->at(ip("10.0.0.2")).incarnation, 2U);
  EXPECT_EQ(a.updates, 2);
}

TEST_F(EndpointPushTest, OnlyLiveAgentsAtAddressesOfRdmaProbesAreInIt) {
  Peer a(socket_->address());
  Peer b(socket_->address());
  Peer stranger(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  registerPeer(b, "10.0.0.2", 18);
  registerPeer(stranger, "10.0.1.1", 19);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  EXPECT_EQ(a.held.table->size(), 2U) << "no rdma probe names 10.0.1.1";
  registry_.goodbye(*registry_.find("host-10.0.0.2"));
  pass(0);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  EXPECT_EQ(qpnOf(a, "10.0.0.2"), 0U);
  registry_.heard(registry_.find("host-10.0.0.1")->route, now());
  usePlan("  - { name: rail, protocol: rdma, mesh: ['10.0.1.[1-9]'] }\n");
  follow(a);
  EXPECT_TRUE(a.held.table->empty()) << "it probes nobody any more";
  follow(stranger);
  EXPECT_EQ(qpnOf(stranger, "10.0.1.1"), 19U);
  usePlan("  - { name: mesh, protocol: udp, mesh: ['10.0.1.[1-9]'] }\n");
  follow(stranger);
  EXPECT_TRUE(stranger.held.table->empty());
}

TEST_F(EndpointPushTest, AgentsThatReconnectGetWhatTheyLack) {
  Peer a(socket_->address());
  Peer b(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  registerPeer(b, "10.0.0.2", 18);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  registerPeer(a, "10.0.0.1", 17);
  pass(2 * EndpointPush::kMaxCoalesce);
  EXPECT_FALSE(a.dealer.receive()) << "it named the current version";
  const plan::HeldEndpoints before = a.held;
  registerPeer(b, "10.0.0.2", 77);
  pass(2 * EndpointPush::kMaxCoalesce);
  Peer again(socket_->address());
  again.held = before;
  registerPeer(again, "10.0.0.1", 17, 1);
  pass(2 * EndpointPush::kMaxCoalesce);
  follow(again);
  EXPECT_EQ(qpnOf(again, "10.0.0.2"), 77U);
  EXPECT_EQ(again.held.table->size(), 2U);
}

TEST_F(EndpointPushTest, ARestartedControllerLeavesNobodyWithoutEndpoints) {
  {
    Peer a(socket_->address());
    Peer b(socket_->address());
    Peer c(socket_->address());
    registerPeer(a, "10.0.0.1", 17);
    registerPeer(b, "10.0.0.2", 18);
    registerPeer(c, "10.0.0.3", 19);
    pass(EndpointPush::kMaxCoalesce);
  }
  startController(kRail);
  Peer fresh(socket_->address());
  registerPeer(fresh, "10.0.0.4", 20);
  pass(EndpointPush::kMaxCoalesce);
  follow(fresh);
  EXPECT_EQ(fresh.held.table->size(), 4U) << "as if they were there";
  Peer b(socket_->address());
  registerPeer(b, "10.0.0.2", 99);
  pass(2 * EndpointPush::kMaxCoalesce);
  follow(fresh);
  EXPECT_EQ(qpnOf(fresh, "10.0.0.2"), 99U) << "restarted meanwhile";
  EXPECT_EQ(qpnOf(fresh, "10.0.0.3"), 19U) << "has not come back yet";
  registry_.goodbye(*registry_.find("host-10.0.0.2"));
  pass(0);
  pass(2 * EndpointPush::kMaxCoalesce);
  follow(fresh);
  EXPECT_EQ(qpnOf(fresh, "10.0.0.2"), 0U) << "came back and went";
  EXPECT_EQ(fresh.held.table->size(), 3U);
  pass(EndpointPush::kSettle);
  follow(fresh);
  EXPECT_EQ(fresh.held.table->size(), 1U) << "the others did not come back";
}

TEST_F(EndpointPushTest, WhatHoldsStillIsNotSentAgainAfterTheControllersRestart) {
  Peer before(socket_->address());
  registerPeer(before, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  follow(before);
  startController(kRail);
  Peer a(socket_->address());
  a.held = before.held;
  registerPeer(a, "10.0.0.1", 17);
  pass(EndpointPush::kSettle);
  const auto message = a.dealer.expect(wire::ControllerMessage::kEndpoints);
  ASSERT_TRUE(message);
  EXPECT_NE(message->endpoints().base_version(), 0U);
  EXPECT_EQ(message->endpoints().changed_size() + message->endpoints().removed_size(), 0);
}

TEST_F(EndpointPushTest, ARunThatEndsAtOnceLeavesNoVersionsToTheNext) {
  {
    Peer a(socket_->address());
    registerPeer(a, "10.0.0.1", 17);
    pass(EndpointPush::kMaxCoalesce);
  }
  startController(kRail);
  const auto kept = readFile(folder_ / "endpoints", 1 << 20);
  Peer a(socket_->address());
  registerPeer(a, "10.0.0.2", 18);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  push_.reset();
  ASSERT_TRUE(writeFileAtomic(folder_ / "endpoints", *kept)) << "as if it had been killed";
  startController(kRail);
  EXPECT_GT(push_->version(), a.held.version.number);
}

TEST_F(EndpointPushTest, TablesOfAnotherControllerAreLeftAloneUntilAllCanBeHere) {
  Peer a(socket_->address());
  a.held.version = {123, 45};
  a.held.table = std::make_shared<const plan::EndpointTable>(
      plan::EndpointTable{{ip("10.0.0.3"), test::endpointOf("10.0.0.3", 19)}});
  registerPeer(a, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  Peer none(socket_->address());
  registerPeer(none, "10.0.0.2", 18);
  pass(2 * EndpointPush::kMaxCoalesce);
  follow(none);
  EXPECT_FALSE(a.dealer.receive());
  pass(EndpointPush::kSettle);
  follow(a);
  EXPECT_EQ(a.held.table->size(), 2U);
  EXPECT_EQ(qpnOf(a, "10.0.0.3"), 0U);
  EXPECT_EQ(push_->nextDue(), kNever) << "and the table is kept";
}

TEST_F(EndpointPushTest, ADamagedFileIsNoTable) {
  ASSERT_TRUE(writeFileAtomic(folder_ / "endpoints", "rubbish"));
  startController(kRail);
  Peer a(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  EXPECT_EQ(a.held.table->size(), 1U);
}

TEST_F(EndpointPushTest, WithoutRdmaNobodyIsToldAnything) {
  usePlan("  - { name: mesh, protocol: udp, mesh: ['10.0.0.[1-9]'] }\n");
  Peer a(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  pass(EndpointPush::kSettle);
  EXPECT_FALSE(a.dealer.receive());
}

TEST_F(EndpointPushTest, AgentsGetTheEndpointsOfTheirTargetsOnly) {
  usePlan("  - { name: storage, protocol: rdma, from: ['10.0.0.[1-5]'], to: ['10.0.0.[6-8]'] }\n");
  Peer client(socket_->address());
  Peer other(socket_->address());
  Peer server(socket_->address());
  registerPeer(client, "10.0.0.1", 17);
  registerPeer(other, "10.0.0.2", 18);
  registerPeer(server, "10.0.0.6", 19);
  pass(EndpointPush::kMaxCoalesce);
  follow(client);
  EXPECT_EQ(client.held.table->size(), 1U);
  EXPECT_EQ(qpnOf(client, "10.0.0.6"), 19U);
  follow(server);
  EXPECT_TRUE(server.held.table->empty()) << "it probes nobody";

  usePlan("  - { name: storage, protocol: rdma, from: ['10.0.0.[1-5]'], to: ['10.0.0.[2-8]'] }\n");
  const auto message = client.dealer.expect(wire::ControllerMessage::kEndpoints);
  ASSERT_TRUE(message);
  EXPECT_NE(message->endpoints().base_version(), 0U);
  EXPECT_EQ(message->endpoints().changed_size(), 1) << "only the new target's";
}

TEST_F(EndpointPushTest, WhatANewPlanNeedsCanBePushedBeforeThePlan) {
  Peer client(socket_->address());
  Peer added(socket_->address());
  registerPeer(client, "10.0.0.1", 17);
  registerPeer(added, "10.0.1.1", 19);
  pass(EndpointPush::kMaxCoalesce);
  follow(client);
  const auto plan = std::make_shared<const plan::Plan>(
      test::pinglistOf("  - { name: rail, protocol: rdma, mesh: ['10.0.[0-1].1'] }\n")->plan);
  push_->setPlan(plan, now());
  push_->push(*registry_.find("host-10.0.0.1"));
  follow(client);
  EXPECT_EQ(qpnOf(client, "10.0.1.1"), 19U) << "no time has passed";
}

TEST_F(EndpointPushTest, AnAgentWithInfiniBandGetsTheEndpointsOfThoseThatProbeItToo) {
  usePlan("  - { name: storage, protocol: rdma, from: ['10.0.0.[1-5]'], to: ['10.0.0.[6-8]'] }\n");
  Peer client(socket_->address());
  registerPeer(client, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  Peer server(socket_->address());
  registerPeer(server, "10.0.0.6", 19, 1, 7);
  pass(EndpointPush::kMaxCoalesce);
  follow(server);
  EXPECT_EQ(qpnOf(server, "10.0.0.1"), 17U);
}

TEST_F(EndpointPushTest, BeforeTheFirstPlanNobodyLosesATable) {
  Peer a(socket_->address());
  registerPeer(a, "10.0.0.1", 17);
  pass(EndpointPush::kMaxCoalesce);
  follow(a);
  startWithoutPlan();
  Peer again(socket_->address());
  again.held = a.held;
  registerPeer(again, "10.0.0.1", 17);
  pass(2 * EndpointPush::kSettle);
  EXPECT_FALSE(again.dealer.receive());
  usePlan(kRail);
  follow(again);
  EXPECT_EQ(qpnOf(again, "10.0.0.1"), 17U);
}

}  // namespace
}  // namespace pingloom::controller::endpoint_push_test
