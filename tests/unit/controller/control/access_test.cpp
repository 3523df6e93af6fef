#include "controller/control/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/support.h"

namespace pingloom::controller::access_test {
namespace {

using net::PeerRefusal;
using test::registerOf;

class AccessTest : public testing::Test {
 protected:
  AccessTest() { use({entry(gpu1_, "gpu-001", {"10.0.0.1", "10.1.0.[1-2]"}), collector()}); }

  static keys::AuthorizedKey entry(const net::CurvePair& pair, const std::string& host,
                                   const std::vector<std::string>& addresses) {
    keys::AuthorizedKey made(pair.public_key);
    made.host = host;
    for (const std::string& one : addresses) EXPECT_TRUE(keys::addAddresses(one, made));
    return made;
  }
  keys::AuthorizedKey collector() const {
    keys::AuthorizedKey made(collector_.public_key);
    made.role = keys::Role::kCollector;
    return made;
  }
  void use(const std::vector<keys::AuthorizedKey>& entries) {
    auto list = std::make_shared<keys::AuthorizedKeys>();
    for (const auto& one : entries) ASSERT_TRUE(list->add(one));
    if (access_) {
      access_->set(list);
    } else {
      access_.emplace(gate_, list);
    }
  }
  std::optional<PeerRefusal> registering(const net::CurvePair& pair, const wire::Register& request,
                                         const Agent* known = nullptr) const {
    const auto denial = access_->mayRegister(pair.public_key, request, known);
    return denial ? std::optional(denial->reason) : std::nullopt;
  }

  const net::CurvePair gpu1_ = net::CurvePair::generate();
  const net::CurvePair gpu2_ = net::CurvePair::generate();
  const net::CurvePair collector_ = net::CurvePair::generate();
  const std::shared_ptr<net::PeerGate> gate_ =
      std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test");
  std::optional<Access> access_;
};

TEST_F(AccessTest, AKeySpeaksForItsHostAndAddresses) {
  EXPECT_EQ(registering(gpu1_, registerOf("gpu-001", 1, {"10.0.0.1", "10.1.0.2"})), std::nullopt);
  EXPECT_EQ(registering(gpu1_, registerOf("gpu-001", 1, {"10.0.0.1", "10.0.0.2"})),
            PeerRefusal::kAddress);
  EXPECT_EQ(registering(gpu1_, registerOf("gpu-002", 1, {"10.0.0.1"})), PeerRefusal::kHost);
  EXPECT_EQ(registering(gpu2_, registerOf("gpu-001", 1, {"10.0.0.1"})), PeerRefusal::kUnknownKey);
}

// Where probes go that others send, and where collectors ask.
TEST_F(AccessTest, EndpointsAndPagesAreAddressesToo) {
  auto request = registerOf("gpu-001", 1, {"10.0.0.1"});
  request.set_pages("10.1.0.1:20714");
  EXPECT_EQ(registering(gpu1_, request), std::nullopt);
  request.set_pages("10.0.0.9:20714");
  EXPECT_EQ(registering(gpu1_, request), PeerRefusal::kAddress);
  request.clear_pages();
  wire::Endpoint& endpoint = *request.add_endpoints();
  endpoint.set_address(IpAddress::parse("10.0.0.1")->wire());
  endpoint.set_qpn(17);
  endpoint.set_clock(1);
  endpoint.set_device("soft");
  EXPECT_EQ(registering(gpu1_, request), std::nullopt);
  std::string gid(16, '\0');
  gid[10] = gid[11] = '\xff';
  gid.replace(12, 4, IpAddress::parse("10.9.9.9")->wire());
  endpoint.set_gid(gid);
  EXPECT_EQ(registering(gpu1_, request), PeerRefusal::kAddress) << "a third party would be probed";
  endpoint.set_lid(1);
  EXPECT_EQ(registering(gpu1_, request), PeerRefusal::kAddress) << "with a LID too";
  use({entry(gpu1_, "gpu-001", {"10.0.0.1"}), entry(gpu2_, "gpu-002", {"fd00::2"})});
  endpoint.set_gid(IpAddress::parse("fd00::2")->wire());
  EXPECT_EQ(registering(gpu1_, request), PeerRefusal::kAddress) << "another host's, IPv6";
  endpoint.set_gid(IpAddress::parse("fec0::2")->wire());
  EXPECT_EQ(registering(gpu1_, request), std::nullopt) << "InfiniBand";
  request.clear_endpoints();
  request.set_host("gpu-001\n2026-11-22T03:12:00Z error forged");
  EXPECT_EQ(registering(gpu1_, request), PeerRefusal::kHost);
}

TEST_F(AccessTest, AKeyWithoutAHostTakesNoHostOfAnotherKey) {
  use({entry(gpu1_, "gpu-001", {"10.0.0.1"}), entry(gpu2_, "", {"10.0.0.[2-3]"})});
  EXPECT_EQ(registering(gpu2_, registerOf("gpu-001", 1, {"10.0.0.2"})), PeerRefusal::kHost);
  EXPECT_EQ(registering(gpu2_, registerOf("other", 1, {"10.0.0.2"})), std::nullopt);
  Agent known;
  known.info.host = "other";
  known.info.public_key = gpu1_.public_key.text();
  known.info.addresses = {*IpAddress::parse("10.0.0.7")};
  EXPECT_EQ(registering(gpu2_, registerOf("other", 1, {"10.0.0.2"}), &known), PeerRefusal::kHost);
  known.info.addresses = {*IpAddress::parse("10.0.0.3")};
  EXPECT_EQ(registering(gpu2_, registerOf("other", 1, {"10.0.0.2"}), &known), std::nullopt)
      << "it speaks for all that the other key's agent has: a replaced key";
}

TEST_F(AccessTest, TwoKeysOfOneHostWhileOneReplacesTheOther) {
  use({entry(gpu1_, "gpu-001", {"10.0.0.1"}), entry(gpu2_, "gpu-001", {"10.0.0.1"})});
  EXPECT_EQ(registering(gpu1_, registerOf("gpu-001", 1, {"10.0.0.1"})), std::nullopt);
  EXPECT_EQ(registering(gpu2_, registerOf("gpu-001", 1, {"10.0.0.1"})), std::nullopt);
}

TEST_F(AccessTest, WhoMayStayWhenTheListChanges) {
  AgentInfo agent;
  agent.host = "gpu-001";
  agent.public_key = gpu1_.public_key.text();
  agent.addresses = {*IpAddress::parse("10.0.0.1")};
  EXPECT_FALSE(access_->mayStay(agent));
  AgentEndpoint elsewhere;
  elsewhere.endpoint.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 1};
  agent.endpoints = {elsewhere};
  EXPECT_FALSE(access_->mayStay(agent));
  use({entry(gpu1_, "gpu-001", {"10.0.0.1"})});
  ASSERT_TRUE(access_->mayStay(agent)) << "others would send their probes there";
  agent.endpoints.clear();
  use({entry(gpu1_, "gpu-001", {"10.0.0.2"})});
  ASSERT_TRUE(access_->mayStay(agent));
  EXPECT_EQ(access_->mayStay(agent)->reason, PeerRefusal::kAddress);
  use({entry(gpu1_, "gpu-009", {"10.0.0.1"})});
  ASSERT_TRUE(access_->mayStay(agent));
  EXPECT_EQ(access_->mayStay(agent)->reason, PeerRefusal::kHost);
  use({});
  ASSERT_TRUE(access_->mayStay(agent));
  EXPECT_EQ(access_->mayStay(agent)->reason, PeerRefusal::kRevoked);
  EXPECT_EQ(access_->maySpeak(gpu1_.public_key)->reason, PeerRefusal::kRevoked);
  EXPECT_EQ(access_->maySpeak(gpu2_.public_key)->reason, PeerRefusal::kUnknownKey);
  EXPECT_EQ(access_->maySpeak(std::nullopt)->reason, PeerRefusal::kNoCurve);
}

TEST_F(AccessTest, ATokenMayJoinUntilItEnds) {
  const auto pair = [] { return net::CurvePair::generate().public_key; };
  auto book = std::make_shared<keys::JoinBook>();
  for (int i = 0; i < 3; ++i) book->tokens.emplace_back(pair());
  for (auto& token : book->tokens) token.expires_utc = 100;
  book->tokens[1].expires_utc = 10;
  book->tokens[2].uses = book->tokens[2].used = 1;
  const auto list = std::make_shared<keys::AuthorizedKeys>();
  access_->set(list, book, 10);
  const net::CurveKey valid = book->tokens[0].key;
  EXPECT_TRUE(access_->joins(valid));
  EXPECT_FALSE(access_->maySpeak(valid));
  EXPECT_FALSE(access_->joins(book->tokens[1].key));
  EXPECT_EQ(access_->maySpeak(book->tokens[1].key)->reason, PeerRefusal::kTokenExpired);
  EXPECT_EQ(access_->maySpeak(book->tokens[2].key)->reason, PeerRefusal::kTokenUsedUp);
  access_->runDue(99);
  EXPECT_TRUE(access_->joins(valid));
  access_->runDue(100);
  EXPECT_FALSE(access_->joins(valid));
  EXPECT_EQ(access_->maySpeak(valid)->reason, PeerRefusal::kTokenExpired);
  access_->set(list, std::make_shared<keys::JoinBook>(), 10);
  EXPECT_FALSE(access_->joins(valid));
}

TEST_F(AccessTest, ARevokedTokenIsToldFromAnUnknownOne) {
  auto book = std::make_shared<keys::JoinBook>();
  book->tokens.emplace_back(gpu2_.public_key).expires_utc = 100;
  const auto list = std::make_shared<keys::AuthorizedKeys>();
  access_->set(list, book, 10);
  access_->set(list, std::make_shared<keys::JoinBook>(), 10);
  EXPECT_EQ(access_->maySpeak(gpu2_.public_key)->reason, PeerRefusal::kRevoked);
}

TEST_F(AccessTest, AKeyThatWaitsIsRefusedUntilItIsApproved) {
  auto book = std::make_shared<keys::JoinBook>();
  const auto waits = entry(gpu2_, "gpu-002", {"10.0.0.2"});
  book->requests.emplace_back(waits);
  auto list = std::make_shared<keys::AuthorizedKeys>();
  access_->set(list, book, 0);
  EXPECT_EQ(access_->maySpeak(gpu2_.public_key)->reason, PeerRefusal::kWaiting);
  book = std::make_shared<keys::JoinBook>(*book);
  book->requests[0].rejected = true;
  access_->set(list, book, 0);
  EXPECT_EQ(access_->maySpeak(gpu2_.public_key)->reason, PeerRefusal::kRejected);
  auto approved = std::make_shared<keys::AuthorizedKeys>();
  ASSERT_TRUE(approved->add(waits));
  access_->set(approved, book, 0);
  EXPECT_FALSE(access_->maySpeak(gpu2_.public_key));
}

TEST_F(AccessTest, AnAgentWithoutAKeyGetsNothingThatBelongsToAKey) {
  const auto registering = [&](const wire::Register& request) {
    const auto denial = access_->mayRegister(std::nullopt, request, nullptr);
    return denial ? std::optional(denial->reason) : std::nullopt;
  };
  EXPECT_EQ(registering(registerOf("gpu-009", 1, {"10.0.0.9"})), PeerRefusal::kNoCurve);
  access_->letInWithoutKeys();
  EXPECT_FALSE(access_->maySpeak(std::nullopt));
  EXPECT_EQ(registering(registerOf("gpu-009", 1, {"10.0.0.9"})), std::nullopt);
  EXPECT_EQ(registering(registerOf("gpu-001", 1, {"10.0.0.9"})), PeerRefusal::kHost);
  EXPECT_EQ(registering(registerOf("gpu-009", 1, {"10.0.0.9", "10.1.0.2"})), PeerRefusal::kAddress);
  auto pages = registerOf("gpu-009", 1, {"10.0.0.9"});
  pages.set_pages("10.0.0.1:20714");
  EXPECT_EQ(registering(pages), PeerRefusal::kAddress);
  AgentInfo agent;
  agent.host = "gpu-001";
  agent.addresses = {*IpAddress::parse("10.0.0.1")};
  EXPECT_FALSE(access_->mayStay(agent)) << "it goes on until its successor comes with a key";
}

TEST_F(AccessTest, AgentsAreToldOfCollectorsOnly) {
  wire::ControllerMessage message;
  ASSERT_TRUE(message.ParseFromString(*access_->collectors()));
  ASSERT_EQ(message.collectors().keys_size(), 1);
  EXPECT_EQ(message.collectors().keys(0), collector_.public_key.wire());
  EXPECT_EQ(access_->maySpeak(collector_.public_key)->reason, PeerRefusal::kWrongRole);
  const auto before = access_->collectors();
  use({entry(gpu2_, "", {"10.0.0.2"}), collector()});
  EXPECT_EQ(access_->collectors(), before) << "nobody is told what it knows";
  auto elsewhere = collector();
  ASSERT_TRUE(keys::addAddresses("10.0.0.[8-9]", elsewhere));
  use({entry(gpu2_, "", {"10.0.0.2"}), elsewhere});
  ASSERT_TRUE(message.ParseFromString(*access_->collectors()));
  ASSERT_EQ(message.collectors().addresses_size(), 1);
  const wire::CollectorAddresses& places = message.collectors().addresses(0);
  EXPECT_EQ(places.key(), collector_.public_key.wire());
  ASSERT_EQ(places.addresses_size(), 2);
  EXPECT_EQ(places.addresses(1), IpAddress::parse("10.0.0.9")->wire());
  use({});
  EXPECT_NE(access_->collectors(), before);
}

}  // namespace
}  // namespace pingloom::controller::access_test
