#include "controller/control/homes.h"

#include <gtest/gtest.h>

#include <set>

#include "wire/rendezvous.h"

namespace pingloom::controller::homes_test {
namespace {

// Three controllers, as "a" sees them.
class HomesTest : public testing::Test {
 protected:
  HomesTest() {
    status_.name = "a";
    status_.session = 1;
    status_.members = {member("a", 1), member("b", 2), member("c", 3)};
    homes_.setServiceOf([this](const ClusterMember& member) {
      return serving_.contains(member.session) ? Homes::Service::kServes : otherwise_;
    });
  }

  static ClusterMember member(const std::string& name, std::int64_t session) {
    return {name, name + ":1", "", 0, 0, kSecond, session, false};
  }
  bool refresh(Nanos at) {
    board_.publishCluster(std::make_shared<const ClusterStatus>(status_));
    return homes_.refresh(at);
  }
  // The name of the controller that is this host's home.
  std::string homeOf(const std::string& host) const {
    const auto home = homes_.elsewhere(host);
    return home ? home->name : "a";
  }
  // A host whose home is this one if all controllers serve.
  static std::string hostOf(const std::string& name) {
    const auto weight = [](const std::string& host, const std::string& of) {
      return wire::homeWeight(host, of + ":1");
    };
    for (int i = 0;; ++i) {
      const std::string host = "gpu-" + std::to_string(i);
      bool largest = true;
      for (const char* other : {"a", "b", "c"}) {
        largest = largest && weight(host, name) >= weight(host, other);
      }
      if (largest) return host;
    }
  }

  Board board_;
  ClusterStatus status_;
  std::set<std::int64_t> serving_;  // sessions
  Homes::Service otherwise_ = Homes::Service::kUnreachable;
  Homes homes_{board_};
};

TEST_F(HomesTest, OnesThatDoNotServeYetAreNobodysHome) {
  refresh(0);
  EXPECT_EQ(homeOf(hostOf("b")), "a");
  EXPECT_FALSE(refresh(kSecond));
  serving_ = {2};
  EXPECT_TRUE(refresh(2 * kSecond));
  EXPECT_EQ(homeOf(hostOf("b")), "b");
  EXPECT_NE(homeOf(hostOf("c")), "c");
  EXPECT_EQ(homeOf(hostOf("a")), "a");
}

TEST_F(HomesTest, OneThatStartsAgainHasToServeAnew) {
  serving_ = {2, 3};
  refresh(0);
  EXPECT_EQ(homeOf(hostOf("b")), "b");
  status_.members[1].session = 4;
  EXPECT_TRUE(refresh(kSecond));
  EXPECT_NE(homeOf(hostOf("b")), "b");
  serving_ = {3, 4};
  EXPECT_TRUE(refresh(2 * kSecond));
  EXPECT_EQ(homeOf(hostOf("b")), "b");
}

TEST_F(HomesTest, OneThatOnlyThisOneCannotReachCountsAfterAWhile) {
  refresh(kSecond);
  refresh(kSecond + Homes::kPatience - 1);
  EXPECT_EQ(homeOf(hostOf("b")), "a");
  EXPECT_TRUE(refresh(kSecond + Homes::kPatience));
  EXPECT_EQ(homeOf(hostOf("b")), "b");
}

TEST_F(HomesTest, OneThatReadsItsHistoryForLongIsWaitedFor) {
  otherwise_ = Homes::Service::kStarting;
  refresh(kSecond);
  refresh(kSecond + kMinute);
  EXPECT_EQ(homeOf(hostOf("b")), "a");
  otherwise_ = Homes::Service::kUnreachable;
  refresh(kSecond + kMinute + Homes::kPatience - 1);
  EXPECT_EQ(homeOf(hostOf("b")), "a");
  EXPECT_TRUE(refresh(kSecond + kMinute + Homes::kPatience));
}

TEST_F(HomesTest, AControllerWithoutASessionIsNobodysHome) {
  serving_ = {2, 3};
  status_.session = 0;
  refresh(0);
  EXPECT_NE(homeOf(hostOf("a")), "a");
  serving_.clear();
  refresh(kSecond);
  EXPECT_EQ(homeOf(hostOf("b")), "a") << "nobody else serves";
}

}  // namespace
}  // namespace pingloom::controller::homes_test
