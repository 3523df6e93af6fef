#include "report/client/credit.h"

#include <gtest/gtest.h>

namespace pingloom::report::client::credit_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Credit, NoneIsNeededBeforeTheFirst) {
  Credit credit;
  for (std::uint32_t sequence = 1; sequence < 10'000; ++sequence) {
    ASSERT_TRUE(credit.takeOne(sequence, 0));
  }
}

TEST(Credit, EndsAtItsSequence) {
  Credit credit;
  credit.grant(5, 0);
  EXPECT_TRUE(credit.takeOne(5, 0));
  EXPECT_FALSE(credit.takeOne(6, 0));
  credit.grant(4, 0);  // an older reply
  EXPECT_FALSE(credit.takeOne(6, 0));
  credit.grant(6, 0);
  EXPECT_TRUE(credit.takeOne(6, 0));
  EXPECT_FALSE(credit.takeOne(7, 0));
}

TEST(Credit, Wraps) {
  Credit credit;
  credit.grant(UINT32_MAX, 0);
  EXPECT_TRUE(credit.takeOne(UINT32_MAX, 0));
  EXPECT_FALSE(credit.takeOne(0, 0));
  credit.grant(1, 0);
  EXPECT_TRUE(credit.takeOne(1, 0));
  EXPECT_FALSE(credit.takeOne(2, 0));
}

TEST(Credit, LetsOneLeaveNowAndThen) {
  Credit credit;
  credit.grant(1, 0);
  EXPECT_FALSE(credit.takeOne(2, 5000 * kMs)) << "a long idle time does not count";
  EXPECT_FALSE(credit.takeOne(2, 5099 * kMs));
  EXPECT_TRUE(credit.takeOne(2, 5100 * kMs));
  EXPECT_FALSE(credit.takeOne(3, 5100 * kMs));
  EXPECT_TRUE(credit.takeOne(3, 5200 * kMs));
}

TEST(Credit, IsForgottenWithoutReplies) {
  Credit credit;
  credit.grant(1, 0);
  EXPECT_FALSE(credit.takeOne(2, 0));
  credit.grant(1, 500 * kMs);  // the translator is there and takes nothing
  EXPECT_TRUE(credit.takeOne(2, 1499 * kMs)) << "one now and then";
  EXPECT_FALSE(credit.takeOne(3, 1499 * kMs));
  for (std::uint32_t sequence = 3; sequence < 1000; ++sequence) {
    ASSERT_TRUE(credit.takeOne(sequence, 1500 * kMs));
  }
  credit.grant(1000, 1500 * kMs);
  EXPECT_FALSE(credit.takeOne(1001, 1500 * kMs)) << "a translator that answers again counts";
}

}  // namespace
}  // namespace pingloom::report::client::credit_test
