#include "controller/control/endpoint_scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "unit/controller/support.h"

namespace pingloom::controller::endpoint_scope_test {
namespace {

using test::ip;

AgentInfo agentAt(const std::string& address, std::uint16_t lid = 0) {
  AgentInfo made;
  made.addresses = {ip(address)};
  AgentEndpoint at{test::endpointOf(address, 17)};
  at.endpoint.lid = lid;
  made.endpoints = {at};
  return made;
}

std::shared_ptr<const plan::Plan> planOf(const std::string& probes) {
  return std::make_shared<const plan::Plan>(test::pinglistOf(probes)->plan);
}

TEST(EndpointScopesTest, MembersOfAMeshShareOneScope) {
  EndpointScopes scopes;
  scopes.setPlan(planOf("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-9]'] }\n"));
  const auto one = scopes.of(agentAt("10.0.0.1"));
  EXPECT_EQ(one, scopes.of(agentAt("10.0.0.2")));
  ASSERT_TRUE(one->addresses);
  EXPECT_EQ(one->addresses->size(), 9U);
  EXPECT_EQ(scopes.needed(), *one->addresses);
  EXPECT_TRUE(scopes.of(agentAt("10.0.1.1"))->addresses->empty()) << "no probe names it";
}

TEST(EndpointScopesTest, OnlyDestinationsOfRdmaProbesCount) {
  EndpointScopes scopes;
  scopes.setPlan(
      planOf("  - { name: storage, protocol: rdma, from: ['10.0.0.1'], to: ['10.0.0.[6-8]'] }\n"
             "  - { name: more, protocol: rdma, from: ['10.0.0.[1-2]'], to: ['10.0.0.9'] }\n"
             "  - { name: other, protocol: udp, mesh: ['10.0.0.[1-5]'] }\n"));
  EXPECT_EQ(scopes.of(agentAt("10.0.0.1"))->addresses->size(), 4U);
  EXPECT_EQ(scopes.of(agentAt("10.0.0.2"))->addresses->size(), 1U);
  EXPECT_TRUE(scopes.of(agentAt("10.0.0.6"))->addresses->empty());
  EXPECT_EQ(scopes.needed().size(), 4U);
}

TEST(EndpointScopesTest, AHashIsOfTheAddressesAndOfNothingElse) {
  EndpointScopes scopes;
  scopes.setPlan(planOf("  - { name: rail, protocol: rdma, mesh: ['10.0.0.[1-9]'] }\n"));
  const std::uint64_t before = scopes.of(agentAt("10.0.0.1"))->hash;
  scopes.setPlan(planOf("  - { name: named, protocol: rdma, mesh: ['10.0.0.[1-9]'] }\n"));
  EXPECT_EQ(scopes.of(agentAt("10.0.0.2"))->hash, before);
  scopes.setPlan(planOf("  - { name: named, protocol: rdma, mesh: ['10.0.0.[1-8]'] }\n"));
  EXPECT_NE(scopes.of(agentAt("10.0.0.2"))->hash, before);
  EXPECT_NE(before, EndpointScope{}.hash);
}

TEST(EndpointScopesTest, OfASampleEachAgentGetsItsTargets) {
  EndpointScopes scopes;
  plan::Plan plan;
  plan::AddressList members;
  for (std::uint32_t i = 0; i < 200; ++i) members.push_back(IpAddress::fromV4(0x0a000000 + i));
  plan.lists["all"] = std::make_shared<const plan::AddressList>(members);
  plan.lists["rack"] =
      std::make_shared<const plan::AddressList>(members.begin(), members.begin() + 8);
  plan.probes.push_back({.name = "sample",
                         .protocol = Protocol::kRdma,
                         .sources = "all",
                         .destinations = "all",
                         .across = 12,
                         .groups = {"rack"}});
  scopes.setPlan(std::make_shared<const plan::Plan>(plan));
  for (const std::uint32_t host : {0U, 7U, 8U, 199U}) {
    const AgentInfo agent = agentAt(members[host].text());
    plan::AddressList expected = {members[host]};
    for (const plan::Assignment& work : plan::assignmentsOf(plan, agent.addresses)) {
      expected.insert(expected.end(), work.destinations.begin(), work.destinations.end());
    }
    std::sort(expected.begin(), expected.end());
    const auto scope = scopes.of(agent);
    EXPECT_EQ(*scope->addresses, expected);
    EXPECT_GE(scope->addresses->size(), 13U);
    EXPECT_FALSE(scope->shared);
  }
  EXPECT_EQ(scopes.needed(), members);
}

TEST(EndpointScopesTest, AnAgentWithInfiniBandGetsAll) {
  EndpointScopes scopes;
  scopes.setPlan(
      planOf("  - { name: storage, protocol: rdma, from: ['10.0.0.[1-2]'], to: ['10.0.0.6'] }\n"));
  EXPECT_EQ(scopes.needed().size(), 1U);
  EXPECT_FALSE(scopes.noteInfiniBand(agentAt("10.0.0.1")));
  EXPECT_TRUE(scopes.noteInfiniBand(agentAt("10.0.0.6", 7)));
  EXPECT_FALSE(scopes.noteInfiniBand(agentAt("10.0.0.6", 7))) << "that is known";
  EXPECT_FALSE(scopes.of(agentAt("10.0.0.6", 7))->addresses);
  EXPECT_EQ(scopes.of(agentAt("10.0.0.1"))->addresses->size(), 1U);
  EXPECT_EQ(scopes.needed().size(), 3U) << "it recognizes sources by their endpoints";
}

TEST(EndpointScopesTest, BeforeTheFirstPlanThereIsNone) {
  EndpointScopes scopes;
  EXPECT_EQ(scopes.of(agentAt("10.0.0.1")), nullptr);
  EXPECT_TRUE(scopes.needed().empty());
}

}  // namespace
}  // namespace pingloom::controller::endpoint_scope_test
