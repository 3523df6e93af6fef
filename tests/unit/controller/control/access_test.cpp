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

TEST_F(AccessTest, AgentsAreToldOfCollectorsOnly) {
  wire::ControllerMessage message;
  ASSERT_TRUE(message.ParseFromString(*access_->collectors()));
  ASSERT_EQ(message.collectors().keys_size(), 1);
  EXPECT_EQ(message.collectors().keys(0), collector_.public_key.wire());
  EXPECT_EQ(access_->maySpeak(collector_.public_key)->reason, PeerRefusal::kWrongRole);
  const auto before = access_->collectors();
  use({entry(gpu2_, "", {"10.0.0.2"}), collector()});
  EXPECT_EQ(access_->collectors(), before) << "nobody is told what it knows";
  use({});
  EXPECT_NE(access_->collectors(), before);
}

}  // namespace
}  // namespace pingloom::controller::access_test
