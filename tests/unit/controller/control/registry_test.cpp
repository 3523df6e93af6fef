#include "controller/control/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/support.h"

namespace pingloom::controller::registry_test {
namespace {

using test::ip;
using test::registerOf;
using testing::UnorderedElementsAre;

class RegistryTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;

  Instant now() const { return {mono_, kUtc + mono_}; }
  void pass(Nanos time) { mono_ += time; }
  tl::expected<Agent*, Refusal> admit(const wire::Register& request, const std::string& route,
                                      std::optional<std::uint64_t> known = std::nullopt) {
    return registry_.admit(request, route, known, now());
  }
  wire::Refused::Reason refusal(const wire::Register& request, const std::string& route) {
    const auto admitted = admit(request, route);
    return admitted ? wire::Refused::UNKNOWN : admitted.error().reason;
  }

  Nanos mono_ = 100 * kSecond;
  Registry registry_;
};

TEST_F(RegistryTest, AnAgentIsThereUntilItsLeaseEnds) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1"));
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_THAT(registry_.takeChanged(), UnorderedElementsAre(ip("10.0.0.1")));
  pass(kLease - 1);
  registry_.expire(now());
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_NE(registry_.heard("r1", now()), nullptr);
  pass(kLease - 1);
  registry_.expire(now());
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).alive) << "the heartbeat renewed it";
  EXPECT_TRUE(registry_.takeChanged().empty());
  pass(1);
  EXPECT_LE(registry_.nextExpiry(), mono_);
  registry_.expire(now());
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).known);
  EXPECT_FALSE(registry_.presence(ip("10.0.0.9")).known);
  EXPECT_THAT(registry_.takeChanged(), UnorderedElementsAre(ip("10.0.0.1")));
}

// Thousands that were silent because nobody listened need not register all at once, and what they
// have sent meanwhile is not refused.
TEST_F(RegistryTest, AnAgentThatIsHeardAgainIsBack) {
  Agent* agent = *admit(registerOf("a", 5, {"10.0.0.1"}), "r1");
  pass(kLease);
  registry_.expire(now());
  (void)registry_.takeChanged();
  pass(kLease);
  EXPECT_EQ(registry_.heard("r1", now(), "another key"), nullptr);
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_EQ(registry_.heard("r1", now()), agent);
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, now().utc) << "it was away";
  EXPECT_THAT(registry_.takeChanged(), UnorderedElementsAre(ip("10.0.0.1")));
  pass(kLease - 1);
  registry_.expire(now());
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).alive);
  pass(1);
  registry_.expire(now());
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).alive) << "the new lease ends as any other";
}

TEST_F(RegistryTest, WhoseAddressAnotherOneTookMeanwhileHasToRegister) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1"));
  pass(kLease);
  registry_.expire(now());
  ASSERT_TRUE(admit(registerOf("b", 6, {"10.0.0.1"}), "r2"));
  EXPECT_EQ(registry_.heard("r1", now()), nullptr);
}

TEST_F(RegistryTest, AnotherLiveAgentWithTheSameIdOrAddressIsRefused) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1"));
  EXPECT_EQ(refusal(registerOf("a", 6, {"10.0.0.2"}), "r2"), wire::Refused::DUPLICATE_HOST);
  EXPECT_EQ(refusal(registerOf("b", 6, {"10.0.0.1"}), "r2"), wire::Refused::DUPLICATE_ADDRESS);
  EXPECT_TRUE(admit(registerOf("b", 6, {"10.0.0.2"}), "r2"));
  EXPECT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r3")) << "the same agent, reconnected";
  EXPECT_EQ(registry_.heard("r1", now()), nullptr);
  EXPECT_NE(registry_.heard("r3", now()), nullptr);
}

TEST_F(RegistryTest, ARestartedAgentNeedNotWaitForItsOwnLease) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1", "fd00::1"}), "r1"));
  ASSERT_TRUE(admit(registerOf("a", 6, {"10.0.0.1", "fd00::1"}), "r2")) << "it was killed";
  EXPECT_EQ(registry_.heard("r1", now()), nullptr);
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, now().utc);
  EXPECT_EQ(refusal(registerOf("a", 5, {"10.0.0.1", "fd00::1"}), "r1"),
            wire::Refused::DUPLICATE_HOST)
      << "the later one has it";
  EXPECT_EQ(refusal(registerOf("a", 7, {"10.0.0.1"}), "r3"), wire::Refused::DUPLICATE_HOST);
}

TEST_F(RegistryTest, AnAgentThatIsSilentForTwoHeartbeatsMakesRoom) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1"));
  pass(2 * kHeartbeatInterval);
  ASSERT_TRUE(admit(registerOf("b", 6, {"10.0.0.1"}), "r2"));
  EXPECT_TRUE(registry_.owns(*registry_.find("b"), ip("10.0.0.1")));
  EXPECT_FALSE(registry_.owns(*registry_.find("a"), ip("10.0.0.1")));
  EXPECT_EQ(registry_.heard("r1", now()), nullptr) << "it has to register, and is refused then";
  EXPECT_EQ(refusal(registerOf("a", 5, {"10.0.0.1"}), "r1"), wire::Refused::DUPLICATE_ADDRESS);
}

TEST_F(RegistryTest, GoodbyeFreesAtOnce) {
  Agent* agent = *admit(registerOf("a", 5, {"10.0.0.1"}), "r1");
  registry_.goodbye(*agent);
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).alive);
  EXPECT_TRUE(admit(registerOf("b", 6, {"10.0.0.1"}), "r2"));
}

TEST_F(RegistryTest, PresenceSinceTellsWhetherAnAgentWasAway) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1"));
  const Nanos first = registry_.presence(ip("10.0.0.1")).since_utc;
  EXPECT_EQ(first, now().utc) << "a new agent was not there before";
  pass(kSecond);
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r2"));
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, first) << "only the connection is new";
  pass(2 * kHeartbeatInterval);
  ASSERT_TRUE(admit(registerOf("a", 6, {"10.0.0.1"}), "r3"));
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, now().utc) << "it was restarted";
  pass(kLease);
  registry_.expire(now());
  pass(kSecond);
  ASSERT_TRUE(admit(registerOf("a", 6, {"10.0.0.1"}), "r4"));
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, now().utc) << "its lease had ended";
}

TEST_F(RegistryTest, AnAgentThatOutlivedTheControllerWasNotAway) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r1", 5));
  EXPECT_EQ(registry_.presence(ip("10.0.0.1")).since_utc, 0);
  ASSERT_TRUE(admit(registerOf("b", 7, {"10.0.0.2"}), "r2", 6));
  EXPECT_EQ(registry_.presence(ip("10.0.0.2")).since_utc, now().utc) << "restarted meanwhile";
}

TEST_F(RegistryTest, AddressesThatAreGivenUpBelongToNobody) {
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1", "fd00::1"}), "r1"));
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.2"}), "r1"));
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).known);
  EXPECT_TRUE(registry_.presence(ip("10.0.0.2")).alive);
  EXPECT_TRUE(admit(registerOf("b", 5, {"fd00::1"}), "r2"));
}

TEST_F(RegistryTest, EndpointsBelongToLiveAgents) {
  auto request = registerOf("a", 5, {"10.0.0.1", "10.0.0.2"});
  test::addEndpoint(request, "10.0.0.1", 17);
  Agent* agent = *admit(request, "r1");
  ASSERT_NE(registry_.endpoint(ip("10.0.0.1")), nullptr);
  EXPECT_EQ(registry_.endpoint(ip("10.0.0.1"))->qpn, 17U);
  EXPECT_EQ(registry_.endpoint(ip("10.0.0.1"))->incarnation, 5U);
  EXPECT_TRUE(registry_.presence(ip("10.0.0.1")).endpoint);
  EXPECT_FALSE(registry_.presence(ip("10.0.0.2")).endpoint);
  registry_.goodbye(*agent);
  EXPECT_EQ(registry_.endpoint(ip("10.0.0.1")), nullptr);
  EXPECT_FALSE(registry_.presence(ip("10.0.0.1")).endpoint);
  ASSERT_TRUE(admit(request, "r1"));
  ASSERT_NE(registry_.endpoint(ip("10.0.0.1")), nullptr);
  pass(2 * kHeartbeatInterval);
  ASSERT_TRUE(admit(registerOf("b", 6, {"10.0.0.1"}), "r2")) << "takes the address over";
  EXPECT_EQ(registry_.endpoint(ip("10.0.0.1")), nullptr) << "and has no endpoint there";
}

TEST_F(RegistryTest, AnEndpointKnowsSinceWhenItIsAsItIs) {
  const auto with = [](std::uint64_t incarnation, std::uint32_t qpn) {
    auto request = registerOf("a", incarnation, {"10.0.0.1"});
    test::addEndpoint(request, "10.0.0.1", qpn);
    return request;
  };
  const auto since = [&] { return registry_.presence(ip("10.0.0.1")).endpoint_since_utc; };
  ASSERT_TRUE(admit(with(5, 17), "r1", 5));
  EXPECT_EQ(since(), 0) << "the controller was restarted, not the agent";
  pass(kSecond);
  ASSERT_TRUE(admit(with(5, 17), "r2"));
  EXPECT_EQ(since(), 0) << "only the connection is new";
  pass(kSecond);
  registry_.takeChanged();
  ASSERT_TRUE(admit(with(5, 18), "r2"));
  EXPECT_EQ(since(), now().utc) << "its queue pair was made anew";
  EXPECT_THAT(registry_.takeChanged(), testing::Contains(ip("10.0.0.1")));
  const Nanos rebuilt = now().utc;
  pass(kSecond);
  ASSERT_TRUE(admit(with(5, 18), "r2"));
  EXPECT_EQ(since(), rebuilt);
  ASSERT_TRUE(admit(with(6, 18), "r3"));
  EXPECT_EQ(since(), now().utc) << "another process, by chance with the same number";
}

TEST_F(RegistryTest, RefusesEndpointsThatAreNone) {
  const auto fault = [&](const std::function<void(wire::Register&)>& change) {
    auto request = registerOf("a", 5, {"10.0.0.1", "10.0.0.2"});
    test::addEndpoint(request, "10.0.0.1", 17);
    change(request);
    return refusal(request, "r1");
  };
  using wire::Refused;
  EXPECT_EQ(fault([](auto& r) { r.mutable_endpoints(0)->set_q_key(1U << 31); }),
            Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.mutable_endpoints(0)->set_qpn(1 << 24); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { test::addEndpoint(r, "10.0.0.3", 18); }), Refused::BAD_MESSAGE)
      << "not its address";
  EXPECT_EQ(fault([](auto& r) { test::addEndpoint(r, "10.0.0.1", 18); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) {
              for (int i = 0; i < 3; ++i) test::addEndpoint(r, "10.0.0.1", 18);
            }),
            Refused::BAD_MESSAGE);
  EXPECT_TRUE(registry_.agents().empty());
}

TEST_F(RegistryTest, RefusesWhatIsNotARegistration) {
  const auto fault = [&](const std::function<void(wire::Register&)>& change) {
    auto request = registerOf("a", 5, {"10.0.0.1"});
    change(request);
    return refusal(request, "r1");
  };
  using wire::Refused;
  EXPECT_EQ(fault([](auto& r) { r.set_control_version(2); }), Refused::BAD_VERSION);
  EXPECT_EQ(fault([](auto& r) { r.set_host(""); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_host("a b"); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_host("a\nb"); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_host(std::string(254, 'a')); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_incarnation(0); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_incarnation(~0ULL); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_incarnation(INT64_MAX); }), Refused::BAD_MESSAGE)
      << "with a batch of it, the host's own later starts would be shut out";
  EXPECT_EQ(fault([](auto& r) { r.set_port(70'000); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.set_software_version(std::string(129, 'a')); }),
            Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.add_addresses("xyz"); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) { r.add_addresses(std::string(4, '\0')); }), Refused::BAD_MESSAGE);
  EXPECT_EQ(fault([](auto& r) {
              for (int i = 0; i < 300; ++i) r.add_addresses(ip("10.0.0.1").plus(i)->wire());
            }),
            Refused::BAD_MESSAGE);
  EXPECT_TRUE(registry_.agents().empty());
}

TEST_F(RegistryTest, HostsAreSortedAndSayWhoHoldsThePlan) {
  auto request = registerOf("b", 5, {"10.0.0.2"});
  request.set_plan_hash(77);
  ASSERT_TRUE(admit(request, "r1"));
  ASSERT_TRUE(admit(registerOf("a", 5, {"10.0.0.1"}), "r2"));
  const auto hosts = registry_.hosts(77);
  ASSERT_EQ(hosts->size(), 2U);
  EXPECT_EQ((*hosts)[0].host, "a");
  EXPECT_FALSE((*hosts)[0].plan_current);
  EXPECT_EQ((*hosts)[0].plan_hash, 0U);
  EXPECT_TRUE((*hosts)[1].plan_current);
  EXPECT_EQ((*hosts)[1].plan_hash, 77U);
  EXPECT_EQ((*hosts)[1].software_version, "test");
}

TEST_F(RegistryTest, OwnersOfPagesAreCheckedAndKept) {
  Agent* agent = *admit(registerOf("a", 5, {"10.0.0.1"}), "r1");
  EXPECT_EQ(agent->info.page_owners, nullptr);
  wire::PageOwners told;
  wire::PageOwner& owner = *told.add_owners();
  owner.set_application("queue");
  owner.set_process(41);
  owner.set_user(1000);
  owner.set_pages(2);
  owner.set_metrics(30);
  told.set_left_out(7);
  EXPECT_FALSE(Registry::takePageOwners(*agent, told));
  const PageOwners expected{{{"queue", 41, 1000, 2, 30}}, 7};
  ASSERT_NE(agent->info.page_owners, nullptr);
  EXPECT_EQ(*agent->info.page_owners, expected);
  EXPECT_EQ(*registry_.hosts(0)->at(0).page_owners, expected);

  const auto refused = [&](auto change) {
    wire::PageOwners wrong = told;
    change(wrong);
    return Registry::takePageOwners(*agent, wrong).has_value();
  };
  EXPECT_TRUE(refused([](auto& wrong) {
    while (wrong.owners_size() <= 256) *wrong.add_owners() = wrong.owners(0);
  }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.mutable_owners(0)->clear_application(); }));
  EXPECT_TRUE(
      refused([](auto& wrong) { wrong.mutable_owners(0)->set_application(std::string(65, 'x')); }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.mutable_owners(0)->set_application("a\x1b[2J"); }));
  EXPECT_TRUE(refused([](auto& wrong) { wrong.mutable_owners(0)->set_pages(0); }));
  EXPECT_EQ(*agent->info.page_owners, expected) << "what was known stays";

  EXPECT_FALSE(Registry::takePageOwners(*agent, {}));
  EXPECT_EQ(agent->info.page_owners, nullptr) << "none any more";
  EXPECT_FALSE(Registry::takePageOwners(*agent, told));
  ASSERT_TRUE(admit(registerOf("a", 6, {"10.0.0.1"}), "r2"));
  EXPECT_EQ(agent->info.page_owners, nullptr) << "its first heartbeat tells them";
}

}  // namespace
}  // namespace pingloom::controller::registry_test
