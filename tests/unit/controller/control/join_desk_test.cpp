#include "controller/control/join_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "keys/authorized_file.h"
#include "unit/common/temporary_directory.h"
#include "unit/controller/support.h"

namespace pingloom::controller::join_desk_test {
namespace {

class JoinDeskTest : public testing::Test {
 protected:
  JoinDeskTest() {
    EXPECT_TRUE(keys::changeKeyFiles(
        list_, true, [&](keys::AuthorizedKeys&, keys::JoinBook& book) -> Status {
          book.tokens.emplace_back(token_).expires_utc = utcNow() + kHour;
          return {};
        }));
  }

  JoinDesk::Request request(int host) const {
    keys::JoinRequest wants(net::CurvePair::generate().public_key);
    wants.host = "host-" + std::to_string(host);
    wants.addresses = {IpAddress::fromV4(0x0a000000U + static_cast<std::uint32_t>(host))};
    wants.from = wants.addresses.front();
    return {"route-" + std::to_string(host), token_, wants};
  }
  // The answers to so many requests, and the last state of the files.
  JoinDesk::Done take(JoinDesk& desk, std::size_t answers) {
    JoinDesk::Done all;
    EXPECT_TRUE(test::eventually([&] {
      for (JoinDesk::Done& done : desk.takeDone()) {
        all.answers.insert(all.answers.end(), done.answers.begin(), done.answers.end());
        all.authorized = done.authorized;
        all.book = done.book;
      }
      return all.answers.size() >= answers;
    }));
    return all;
  }

  const test::TemporaryDirectory folder_;
  const std::filesystem::path list_ = folder_ / "authorized_keys.yaml";
  const net::CurveKey token_ = net::CurvePair::generate().public_key;
};

TEST_F(JoinDeskTest, ManyHostsAtOnceAreAllWritten) {
  JoinDesk desk(list_);
  constexpr int kHosts = 200;
  for (int i = 1; i <= kHosts; ++i) ASSERT_TRUE(desk.take(request(i)));
  const auto done = take(desk, kHosts);
  for (int i = 1; i <= kHosts; ++i) {
    const auto& answer = done.answers[static_cast<std::size_t>(i) - 1];
    EXPECT_EQ(answer.route, "route-" + std::to_string(i)) << "in the order of the requests";
    EXPECT_EQ(answer.decision.outcome, wire::JoinReply::AUTHORIZED) << answer.decision.text;
  }
  ASSERT_NE(done.authorized, nullptr);
  EXPECT_EQ(done.authorized->entries().size(), std::size_t{kHosts});
  EXPECT_EQ(keys::loadAuthorizedKeys(list_)->text(), done.authorized->text());
  EXPECT_EQ(keys::loadJoinBook(list_)->tokens.at(0).used, std::uint64_t{kHosts});
}

TEST_F(JoinDeskTest, NobodyIsToldToBeAuthorisedWhoIsNotWritten) {
  ASSERT_TRUE(std::filesystem::remove(list_));
  JoinDesk desk(list_);
  ASSERT_TRUE(desk.take(request(1)));
  const auto done = take(desk, 1);
  EXPECT_EQ(done.answers[0].decision.outcome, wire::JoinReply::NOT_KEPT);
  EXPECT_EQ(done.authorized, nullptr);
}

TEST_F(JoinDeskTest, TheQueueIsBounded) {
  JoinDesk desk(list_);
  const auto one = request(1);
  std::size_t taken = 0;
  while (taken < 3 * JoinDesk::kMaxWaiting && desk.take(one)) ++taken;
  EXPECT_GE(taken, JoinDesk::kMaxWaiting);
  EXPECT_LT(taken, 3 * JoinDesk::kMaxWaiting);
  take(desk, taken);
  EXPECT_TRUE(desk.take(one));
  take(desk, 1);
}

}  // namespace
}  // namespace pingloom::controller::join_desk_test
