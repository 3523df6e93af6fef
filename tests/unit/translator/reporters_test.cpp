#include "translator/reporters.h"

#include <gtest/gtest.h>

#include <vector>

namespace pingloom::translator::reporters_test {
namespace {

using wire::ReportRefusal;
using wire::ReportReplyType;

const SocketAddress kSource{IpAddress::fromV4(0x7f000001), 1234};
constexpr std::size_t kBuffer = 8U << 20;

class ReportersTest : public testing::Test {
 protected:
  ReportRefusal take(std::uint32_t sequence, std::uint32_t reporter = 1,
                     std::uint8_t flags = wire::kReportKeeps, std::uint16_t length = 1400) {
    wire::ReportHead head;
    head.flags = flags;
    head.length = length;
    head.reporter = reporter;
    head.incarnation = 2;
    head.sequence = sequence;
    return reporters_.take(head, kSource, now_);
  }
  // What is sent now.
  std::vector<wire::ReportReply> answers() {
    std::vector<wire::ReportReply> sent = urgent();
    reporters_.answer(now_, [&](const SocketAddress& to, const wire::ReportReply& reply) {
      EXPECT_EQ(to, kSource);
      sent.push_back(reply);
    });
    return sent;
  }
  std::vector<wire::ReportReply> urgent() {
    std::vector<wire::ReportReply> sent;
    reporters_.giveUrgentCredit(now_, [&](const SocketAddress& to, const wire::ReportReply& reply) {
      EXPECT_EQ(to, kSource);
      sent.push_back(reply);
    });
    return sent;
  }
  std::size_t asked() {
    std::size_t count = 0;
    for (const auto& reply : answers()) count += reply.type == ReportReplyType::kNack ? 1 : 0;
    return count;
  }

  Nanos now_ = kHour;
  Counters counters_;
  LossLedger losses_;
  Reporters reporters_{counters_, losses_, kBuffer};
};

TEST_F(ReportersTest, AsksForWhatIsMissing) {
  take(1);
  take(4);
  take(6);
  EXPECT_TRUE(reporters_.hasWaiting());
  EXPECT_EQ(asked(), 0U) << "they may just be late";
  const auto sent = answers();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].type, ReportReplyType::kNack);
  EXPECT_EQ(sent[0].reporter, 1U);
  EXPECT_EQ(sent[0].incarnation, 2U);
  EXPECT_GT(sent[0].until, 6U) << "it is credit too";
  ASSERT_EQ(sent[0].ranges, 2);
  EXPECT_EQ(sent[0].missing[0], (wire::ReportRange{2, 2}));
  EXPECT_EQ(sent[0].missing[1], (wire::ReportRange{5, 1}));
  take(5, 1, wire::kReportKeeps | wire::kReportAgain);
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(asked(), 0U) << "three times are enough";
  reporters_.settle(now_);
  reporters_.settle(now_);
  EXPECT_EQ(counters_.lost, 2U);
  EXPECT_EQ(asked(), 0U);
  EXPECT_FALSE(reporters_.hasWaiting());
}

TEST_F(ReportersTest, TellsNothingToThoseThatForget) {
  take(1, 1, 0);
  take(9, 1, 0);
  EXPECT_FALSE(reporters_.hasWaiting());
  EXPECT_TRUE(answers().empty());
}

TEST_F(ReportersTest, GivesCreditAsDatagramsArrive) {
  take(1);
  auto sent = urgent();  // a new reporter sends without credit
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_TRUE(answers().empty());
  EXPECT_EQ(sent[0].type, ReportReplyType::kCredit);
  EXPECT_EQ(sent[0].ranges, 0);
  const std::uint32_t share = sent[0].until - 1;
  // Half of the queue, where a datagram of 1,400 bytes counts 3,824.
  EXPECT_EQ(share, kBuffer / 2 / 3824);
  for (std::uint32_t sequence = 2; sequence <= share / 4; ++sequence) take(sequence);
  EXPECT_FALSE(reporters_.hasWaiting()) << "there is enough";
  EXPECT_TRUE(urgent().empty());
  take(share / 4 + 1);
  sent = urgent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].until, share / 4 + 1 + share);
  EXPECT_TRUE(answers().empty());
  now_ += Reporters::kCreditInterval;
  take(share / 4 + 2);
  EXPECT_TRUE(urgent().empty());
  EXPECT_EQ(answers().size(), 1U) << "the reply before may be lost";
  EXPECT_EQ(counters_.replies, 3U);
}

TEST_F(ReportersTest, SharesTheQueue) {
  for (std::uint32_t reporter = 1; reporter <= 4; ++reporter) take(1, reporter);
  for (const auto& reply : answers()) EXPECT_EQ(reply.until, 1 + kBuffer / 2 / 3824 / 4);
  now_ += Reporters::kActive;
  reporters_.settle(now_);  // nobody is active
  take(2, 1);
  auto sent = answers();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].until, 2 + kBuffer / 2 / 3824);
  for (std::uint32_t reporter = 0; reporter < 10'000; ++reporter) take(1, 10 + reporter);
  sent = answers();
  ASSERT_EQ(sent.size(), 10'000U);
  EXPECT_EQ(sent.back().until, 1 + Reporters::kMinShare);
  Reporters large(counters_, losses_, std::size_t{1} << 30);
  wire::ReportHead head;
  head.flags = wire::kReportKeeps;
  large.take(head, kSource, now_);
  large.giveUrgentCredit(now_, [](const SocketAddress&, const wire::ReportReply& reply) {
    EXPECT_EQ(reply.until, Reporters::kMaxShare) << "less than a window of sequences";
  });
}

TEST_F(ReportersTest, SmallSharesAreAnsweredNowAndThen) {
  for (std::uint32_t reporter = 0; reporter < 1000; ++reporter) take(1, reporter);
  EXPECT_EQ(urgent().size(), 1000U);
  for (std::uint32_t sequence = 2; sequence < Reporters::kUrgent; ++sequence) take(sequence);
  EXPECT_TRUE(urgent().empty());
  EXPECT_EQ(answers().size(), 1U);
}

TEST_F(ReportersTest, CreditWraps) {
  take(UINT32_MAX);
  const auto sent = answers();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_LT(sent[0].until, Reporters::kMaxShare);
}

TEST_F(ReportersTest, KnowsABoundedNumber) {
  for (std::uint32_t i = 0; i < Reporters::kMaxReporters; ++i) {
    ASSERT_EQ(take(1, i), ReportRefusal::kNone);
  }
  EXPECT_EQ(take(1, ~0U), ReportRefusal::kUnknownReporter);
  now_ += Reporters::kForgetCrowdedAfter - 1;
  for (std::uint32_t i = 0; i < 100; ++i) take(2, i);
  now_ += 1;
  reporters_.settle(now_);
  EXPECT_EQ(reporters_.size(), 100U) << "they were many, and silent for a while";
  now_ += Reporters::kForgetAfter - 2;
  reporters_.settle(now_);
  EXPECT_EQ(reporters_.size(), 100U);
  now_ += 2;
  reporters_.settle(now_);
  EXPECT_EQ(reporters_.size(), 0U);
  EXPECT_TRUE(answers().empty());
  EXPECT_EQ(take(1, ~0U), ReportRefusal::kNone);
}

}  // namespace
}  // namespace pingloom::translator::reporters_test
