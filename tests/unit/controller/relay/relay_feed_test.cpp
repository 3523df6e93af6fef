// What a follower is told, over a real socket, on a clock of the test's own.
#include "controller/control/relay_feed.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "unit/controller/dealer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::relay_feed_test {
namespace {

class RelayFeedTest : public testing::Test {
 protected:
  RelayFeedTest() {
    ClusterStatus status;
    status.name = "home";
    status.session = 1;
    status.members = {{"home", socket_->address().text(), "", 0, 0, kSecond, 1, true},
                      {"other", "other:1", "", 0, 0, kSecond, 2, false}};
    board_.publishCluster(std::make_shared<const ClusterStatus>(status));
  }
  // "other" asks to be told.
  void follow() {
    wire::AgentMessage message;
    message.mutable_follow()->set_control_version(1);
    message.mutable_follow()->set_controller("other");
    message.mutable_follow()->set_session(2);
    message.mutable_follow()->set_attempt(1);
    dealer_.send(message);
    std::optional<net::ZmqRouter::Message> arrived;
    ASSERT_TRUE(test::eventually([&] { return (arrived = socket_->receive()).has_value(); }));
    ASSERT_FALSE(feed_.follow(arrived->route, message.follow(), now_));
  }
  void pass(Nanos time) {
    now_.mono += time;
    now_.utc += time;
  }

  Instant now_{1000 * kSecond, 1'700'000'000 * kSecond};
  std::unique_ptr<net::ZmqRouter> socket_ =
      std::move(*net::ZmqRouter::bind({IpAddress::fromV4(0x7f000001), 0}));
  Registry registry_;
  Board board_;
  RelayFeed feed_{*socket_, registry_, board_};
  test::Dealer dealer_{socket_->address()};
};

TEST_F(RelayFeedTest, AFollowerThatIsSilentIsForgotten) {
  follow();
  pass(RelayFeed::kForget);
  feed_.drained(now_);
  feed_.runDue(now_);
  EXPECT_TRUE(feed_.followed());
  pass(1);
  feed_.drained(now_);
  feed_.runDue(now_);
  EXPECT_FALSE(feed_.followed());
}

TEST_F(RelayFeedTest, AFollowerWhoseFollowMayWaitBehindOthersIsNotForgotten) {
  follow();
  feed_.drained(now_);
  const auto admitted =
      registry_.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_);
  ASSERT_TRUE(admitted);
  feed_.registered(**admitted, true, now_);
  pass(10 * RelayFeed::kForget);
  feed_.runDue(now_);
  EXPECT_TRUE(feed_.followed());
  follow();  // this one
  feed_.drained(now_);
  feed_.runDue(now_);
  EXPECT_TRUE(feed_.followed());
}

TEST_F(RelayFeedTest, OneThatBeginsIsNoneThatWasTooSlow) {
  follow();
  const auto admitted =
      registry_.admit(test::registerOf("a", 7, {"10.0.0.1"}), "route", std::nullopt, now_);
  ASSERT_TRUE(admitted);
  feed_.registered(**admitted, true, now_);  // is gathered when the next one begins
  pass(2 * RelayFeed::kForget);
  feed_.drained(now_);
  wire::Heartbeat heartbeat;
  heartbeat.set_incarnation(7);
  feed_.runDue(now_);
  ASSERT_FALSE(feed_.followed());
  follow();
  feed_.heartbeat(**admitted, heartbeat, now_);
  pass(RelayFeed::kGather);
  feed_.runDue(now_);
  EXPECT_EQ(feed_.restarts(), 0U);
}

}  // namespace
}  // namespace pingloom::controller::relay_feed_test
