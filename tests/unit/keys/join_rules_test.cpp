#include "keys/join_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace pingloom::keys::join_rules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::JoinReply;

constexpr Nanos kNow = 1'764'000'000 * kSecond;

IpAddress address(const char* text) { return *IpAddress::parse(text); }

class JoinRulesTest : public testing::Test {
 protected:
  JoinRulesTest() {
    KnownToken token(token_);
    token.expires_utc = kNow + kHour;
    book_.tokens.push_back(token);
  }

  static JoinRequest agent(const std::string& host, std::vector<IpAddress> addresses,
                           const char* from) {
    JoinRequest request(net::CurvePair::generate().public_key);
    request.host = host;
    request.addresses = std::move(addresses);
    if (*from != '\0') request.from = address(from);
    return request;
  }
  static JoinRequest gpu1() { return agent("gpu-001", {address("10.0.0.1")}, "10.0.0.1"); }

  JoinDecision decide(const JoinRequest& request, Nanos now = kNow) {
    return JoinRules(authorized_, book_, now).decide(request, token_);
  }
  JoinOutcome outcome(const JoinRequest& request) { return decide(request).outcome; }

  const net::CurveKey token_ = net::CurvePair::generate().public_key;
  AuthorizedKeys authorized_;
  JoinBook book_;
};

TEST_F(JoinRulesTest, ACollectorsKeyTakesNoAddressFromAnAgent) {
  AuthorizedKey collector(net::CurvePair::generate().public_key);
  collector.role = Role::kCollector;
  ASSERT_TRUE(addAddresses("10.0.0.1", collector));
  ASSERT_TRUE(authorized_.add(collector));
  EXPECT_EQ(outcome(gpu1()), JoinReply::AUTHORIZED);
}

TEST_F(JoinRulesTest, AHostIsAuthorisedForWhatItRegisters) {
  const auto request = agent("gpu-001", {address("10.0.0.1"), address("10.1.0.1")}, "10.0.0.1");
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  const AuthorizedKey* entry = authorized_.find(request.key);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->host, "gpu-001");
  EXPECT_EQ(entry->role, Role::kAgent);
  EXPECT_THAT(entry->expressions, ElementsAre("10.0.0.1", "10.1.0.1"));
  EXPECT_THAT(entry->name, HasSubstr("from 10.0.0.1"));
  EXPECT_TRUE(AuthorizedKeys::parse(authorized_.text(), "list"));
  EXPECT_EQ(book_.tokens[0].used, 1U);
}

TEST_F(JoinRulesTest, JoiningAgainUsesNothingUp) {
  book_.tokens[0].uses = 1;
  const auto request = gpu1();
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  EXPECT_EQ(book_.tokens[0].used, 1U);
  EXPECT_EQ(outcome(agent("gpu-002", {address("10.0.0.2")}, "10.0.0.2")), JoinReply::TOKEN_USED_UP);
  EXPECT_EQ(authorized_.entries().size(), 1U);
}

TEST_F(JoinRulesTest, ATokenEndsAndHasARole) {
  EXPECT_EQ(decide(gpu1(), kNow + kHour).outcome, JoinReply::TOKEN_EXPIRED);
  book_.tokens[0].role = Role::kCollector;
  EXPECT_EQ(outcome(gpu1()), JoinReply::WRONG_ROLE);
  book_.tokens.clear();
  EXPECT_EQ(outcome(gpu1()), JoinReply::REJECTED);
  EXPECT_TRUE(authorized_.entries().empty());
}

TEST_F(JoinRulesTest, WhatAnotherKeyHasIsNotGivenAway) {
  ASSERT_EQ(outcome(gpu1()), JoinReply::AUTHORIZED);
  EXPECT_EQ(outcome(agent("gpu-001", {address("10.0.0.9")}, "10.0.0.9")), JoinReply::HOST_TAKEN);
  const auto taken = decide(agent("gpu-009", {address("10.0.0.1")}, "10.0.0.9"));
  EXPECT_EQ(taken.outcome, JoinReply::ADDRESS_TAKEN);
  EXPECT_THAT(taken.text, HasSubstr("the host 'gpu-001'"));
  EXPECT_EQ(authorized_.entries().size(), 1U);
  EXPECT_EQ(book_.tokens[0].used, 1U);
}

TEST_F(JoinRulesTest, AKeyIsForOneHostAndOneRole) {
  auto request = gpu1();
  ASSERT_EQ(outcome(request), JoinReply::AUTHORIZED);
  request.host = "gpu-002";
  EXPECT_EQ(outcome(request), JoinReply::KEY_TAKEN);
  request.role = Role::kCollector;
  request.addresses.clear();
  EXPECT_EQ(outcome(request), JoinReply::KEY_TAKEN);
}

TEST_F(JoinRulesTest, AHostMayAddAddressesThatNobodyHas) {
  auto request = gpu1();
  ASSERT_EQ(outcome(request), JoinReply::AUTHORIZED);
  ASSERT_EQ(outcome(agent("gpu-002", {address("10.0.0.2")}, "10.0.0.2")), JoinReply::AUTHORIZED);
  request.addresses.push_back(address("10.1.0.1"));
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  EXPECT_TRUE(authorized_.find(request.key)->speaksFor(address("10.1.0.1")));
  EXPECT_TRUE(authorized_.find(request.key)->speaksFor(address("10.0.0.1")));
  request.addresses.push_back(address("10.0.0.2"));
  EXPECT_EQ(outcome(request), JoinReply::ADDRESS_TAKEN);
  EXPECT_EQ(book_.tokens[0].used, 2U);
}

TEST_F(JoinRulesTest, AnAddressThatIsNotProvedWaitsForAPerson) {
  // Several rails: the control connection leaves by the management network.
  auto rails = agent("gpu-001", {address("10.0.0.1")}, "192.168.0.1");
  rails.machine = {address("10.0.0.1"), address("192.168.0.1")};
  EXPECT_EQ(outcome(rails), JoinReply::AUTHORIZED);
  EXPECT_TRUE(authorized_.find(rails.key)->speaksFor(address("192.168.0.1")));
  auto second = agent("gpu-101", {address("10.0.0.101")}, "192.168.0.1");
  second.machine = rails.machine;
  EXPECT_EQ(outcome(second), JoinReply::WAITING) << "an address is good for one key";
  // Address translation: the address is none of the host's.
  const auto translated = agent("gpu-002", {address("10.0.0.2")}, "203.0.113.7");
  const auto waits = decide(translated);
  EXPECT_EQ(waits.outcome, JoinReply::WAITING);
  EXPECT_THAT(waits.text, HasSubstr("203.0.113.7, which is none of its addresses"));
  // It says that it has the address of another host.
  auto liar = agent("gpu-003", {address("10.0.0.3")}, "10.0.0.1");
  liar.machine = {address("10.0.0.1")};
  EXPECT_THAT(decide(liar).text, HasSubstr("which belongs to the host 'gpu-001'"));
  EXPECT_EQ(outcome(agent("nowhere", {address("10.0.0.5")}, "")), JoinReply::WAITING);
  EXPECT_EQ(outcome(agent("here", {address("10.0.0.4")}, "127.0.0.1")), JoinReply::AUTHORIZED);
  EXPECT_EQ(book_.requests.size(), 4U);
  EXPECT_EQ(authorized_.entries().size(), 2U);
}

TEST_F(JoinRulesTest, AManualTokenMakesWaitAndARejectionHolds) {
  book_.tokens[0].manual = true;
  book_.tokens[0].uses = 1;
  const auto request = gpu1();
  EXPECT_EQ(outcome(request), JoinReply::WAITING);
  EXPECT_EQ(outcome(request), JoinReply::WAITING) << "asking again uses nothing up";
  EXPECT_EQ(outcome(agent("gpu-002", {address("10.0.0.2")}, "10.0.0.2")), JoinReply::TOKEN_USED_UP);
  EXPECT_TRUE(authorized_.entries().empty());
  ASSERT_EQ(book_.requests.size(), 1U);
  EXPECT_EQ(book_.requests[0].entry.host, "gpu-001");
  EXPECT_EQ(book_.requests[0].from, "10.0.0.1");
  book_.requests[0].rejected = true;
  EXPECT_EQ(outcome(request), JoinReply::REJECTED);
}

TEST_F(JoinRulesTest, AKeyThatWaitsMayJoinWithATokenThatAsksForNoApproval) {
  book_.tokens[0].manual = true;
  const auto request = gpu1();
  ASSERT_EQ(outcome(request), JoinReply::WAITING);
  book_.tokens[0].manual = false;
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  EXPECT_TRUE(book_.requests.empty());
}

TEST_F(JoinRulesTest, TheKeysThatWaitAreBounded) {
  book_.tokens[0].manual = true;
  ASSERT_EQ(outcome(gpu1()), JoinReply::WAITING);
  while (book_.requests.size() < JoinBook::kMaxRequests) {
    book_.requests.push_back(book_.requests.front());
  }
  EXPECT_EQ(outcome(agent("gpu-002", {address("10.0.0.2")}, "10.0.0.2")), JoinReply::BUSY);
}

TEST_F(JoinRulesTest, ACollectorHasNoAddresses) {
  JoinRequest request(net::CurvePair::generate().public_key);
  request.role = Role::kCollector;
  request.host = std::string(250, 'x');
  request.from = address("203.0.113.7");
  EXPECT_EQ(outcome(request), JoinReply::AUTHORIZED);
  EXPECT_EQ(authorized_.find(request.key)->role, Role::kCollector);
  EXPECT_TRUE(AuthorizedKeys::parse(authorized_.text(), "list"));
  JoinRequest other(net::CurvePair::generate().public_key);
  other.role = Role::kCollector;
  other.host = request.host;
  EXPECT_EQ(outcome(other), JoinReply::HOST_TAKEN);
}

TEST(ReadJoin, RefusesWhatIsMalformed) {
  wire::Join good;
  good.set_control_version(1);
  good.set_role(wire::Join::AGENT);
  good.set_public_key(net::CurvePair::generate().public_key.wire());
  good.set_host("gpu-001");
  good.add_addresses(address("10.0.0.1").wire());
  ASSERT_TRUE(readJoin(good, "10.0.0.1"));
  EXPECT_FALSE(readJoin(good, "")->from);
  const auto refused = [&](const std::function<void(wire::Join&)>& spoil) {
    wire::Join join = good;
    spoil(join);
    return !readJoin(join, "10.0.0.1");
  };
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_control_version(2); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_role(wire::Join::ROLE_UNKNOWN); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_public_key("short"); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_host(""); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_host("a b"); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.clear_addresses(); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.add_addresses("abc"); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.add_addresses(std::string(4, '\0')); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.add_machine("abc"); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.add_addresses(address("229.48.0.1").wire()); }))
      << "the list of keys could not be read with a multicast address";
  EXPECT_TRUE(refused([](wire::Join& join) { join.add_machine(address("ff02::1").wire()); }));
  EXPECT_TRUE(refused([](wire::Join& join) { join.set_role(wire::Join::COLLECTOR); }));
  EXPECT_TRUE(refused([](wire::Join& join) {
    for (std::size_t i = 0; i < JoinRules::kMaxAddresses; ++i) join.add_addresses("\1\2\3\4");
  }));
}

}  // namespace
}  // namespace pingloom::keys::join_rules_test
