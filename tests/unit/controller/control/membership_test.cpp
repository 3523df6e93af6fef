#include "controller/control/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/controller/support.h"

namespace pingloom::controller::membership_test {
namespace {

using test::ip;
using test::registerOf;
using testing::ElementsAre;
using testing::IsEmpty;

class MembershipTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;

  MembershipTest() { restart(); }
  Instant now() const { return {mono_, kUtc + mono_}; }
  void restart() {
    registry_ = std::make_unique<Registry>();
    members_.emplace(file_, now());
  }
  void join(const std::string& host, const std::vector<std::string>& addresses,
            const std::vector<std::string>& rdma = {}) {
    wire::Register request = registerOf(host, ++incarnation_, addresses);
    for (const std::string& address : rdma) request.add_rdma_addresses(ip(address).wire());
    ASSERT_TRUE(registry_->admit(request, "route of " + host, std::nullopt, now()));
    noteChanges();
  }
  void noteChanges() {
    if (!registry_->takeChanged().empty()) members_->changed(now());
  }
  // Passes time, in which the agents of these hosts are heard.
  void pass(Nanos time, const std::vector<std::string>& heard = {}) {
    mono_ += time;
    for (const std::string& host : heard) registry_->heard("route of " + host, now());
    registry_->expire(now());
    noteChanges();
    if (members_->runDue(*registry_, forget_, now())) ++runs_;
    noteChanges();
  }
  std::vector<std::string> hosts() const {
    std::vector<std::string> names;
    for (const auto& member : members_->members()) {
      names.push_back(member.host + (member.gone_utc == 0 ? "" : " away"));
    }
    return names;
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_ / "members";
  Nanos mono_ = 100 * kSecond;
  Nanos forget_ = kHour;
  std::uint64_t incarnation_ = 0;
  int runs_ = 0;
  std::unique_ptr<Registry> registry_;
  std::optional<Membership> members_;
};

TEST_F(MembershipTest, AgentsThatComeTogetherAreTakenInTogether) {
  join("a", {"10.0.0.1"});
  pass(Membership::kSettle / 2, {"a"});
  join("b", {"10.0.0.2"});
  EXPECT_THAT(hosts(), IsEmpty());
  pass(Membership::kSettle / 2, {"a", "b"});
  EXPECT_THAT(hosts(), ElementsAre("a", "b"));
  EXPECT_EQ(runs_, 1);
}

TEST_F(MembershipTest, OneThatLeavesStaysUntilItIsForgotten) {
  join("a", {"10.0.0.1"});
  join("b", {"10.0.0.2"});
  pass(Membership::kSettle, {"a", "b"});
  registry_->goodbye(*registry_->find("b"));
  noteChanges();
  pass(Membership::kSettle, {"a"});
  EXPECT_THAT(hosts(), ElementsAre("a", "b away"));
  for (Nanos passed = 0; passed < kHour + kMinute; passed += kMinute) pass(kMinute, {"a"});
  EXPECT_THAT(hosts(), ElementsAre("a"));
  EXPECT_EQ(registry_->find("b"), nullptr) << "the registry forgets it as well";
  EXPECT_FALSE(registry_->presence(ip("10.0.0.2")).known);
}

TEST_F(MembershipTest, WithoutEntriesNobodyIsForgotten) {
  forget_ = 0;
  join("a", {"10.0.0.1"});
  pass(Membership::kSettle, {"a"});
  pass(kLease);
  pass(30 * 24 * kHour);
  EXPECT_THAT(hosts(), ElementsAre("a away"));
  EXPECT_NE(registry_->find("a"), nullptr);
}

TEST_F(MembershipTest, ARestartKnowsThemBeforeTheyRegisterAgain) {
  join("a", {"10.0.0.1", "10.1.0.1"}, {"10.1.0.1"});
  join("b", {"10.0.0.2"});
  pass(Membership::kSettle, {"a", "b"});
  const auto before = members_->members();
  mono_ += 3 * kHour;  // longer than `forget`; nobody saw whether they were there
  restart();
  ASSERT_THAT(hosts(), ElementsAre("a away", "b away"));
  EXPECT_EQ(members_->members()[0].addresses, before[0].addresses);
  EXPECT_EQ(members_->members()[0].rdma, before[0].rdma);
  EXPECT_EQ(members_->members()[0].joined_utc, before[0].joined_utc);
  join("b", {"10.0.0.2"});
  pass(Membership::kSettle, {"b"});
  EXPECT_THAT(hosts(), ElementsAre("a away", "b"));
  EXPECT_EQ(members_->members()[1].joined_utc, before[1].joined_utc) << "it keeps its turn";
}

TEST_F(MembershipTest, AnAddressBelongsToTheAgentThatHasItNow) {
  join("old", {"10.0.0.1", "10.0.0.9"});
  pass(Membership::kSettle, {"old"});
  restart();
  join("new", {"10.0.0.1"});
  pass(Membership::kSettle, {"new"});
  ASSERT_THAT(hosts(), ElementsAre("new", "old away"));
  EXPECT_THAT(members_->members()[1].addresses, ElementsAre(ip("10.0.0.9")));
}

TEST_F(MembershipTest, ADeviceThatIsAwayForAWhileIsStillMeasured) {
  join("a", {"10.0.0.1", "10.0.0.2"}, {"10.0.0.1", "10.0.0.2"});
  pass(Membership::kSettle, {"a"});
  join("a", {"10.0.0.1", "10.0.0.2"}, {"10.0.0.1"});
  pass(Membership::kSettle, {"a"});
  EXPECT_THAT(members_->members()[0].rdma, ElementsAre(ip("10.0.0.1"), ip("10.0.0.2")));
  restart();
  join("a", {"10.0.0.1"});
  pass(Membership::kSettle, {"a"});
  EXPECT_THAT(members_->members()[0].rdma, ElementsAre(ip("10.0.0.1")));
}

TEST_F(MembershipTest, AFileThatCannotBeReadIsAWarning) {
  for (const char* text : {"nonsense", "{}", R"({"members":[{"host":1}]})", R"({"members":7})"}) {
    std::ofstream(file_) << text;
    restart();
    EXPECT_THAT(hosts(), IsEmpty()) << text;
  }
}

TEST_F(MembershipTest, AnRdmaAddressIsOneOfTheAgents) {
  wire::Register request = registerOf("a", 1, {"10.0.0.1"});
  request.add_rdma_addresses(ip("10.0.0.2").wire());
  const auto admitted = registry_->admit(request, "r", std::nullopt, now());
  ASSERT_FALSE(admitted);
  EXPECT_EQ(admitted.error().reason, wire::Refused::BAD_MESSAGE);
}

}  // namespace
}  // namespace pingloom::controller::membership_test
