#include <gtest/gtest.h>

#include <map>

#include "rdma/soft/impairment.h"
#include "soft_host.h"

namespace pingloom::rdma::soft::soft_impairment_test {
namespace {

constexpr std::uint64_t kSeed = 4791;

SoftOptions everywhere(const Impairment& impairment) {
  SoftOptions options;
  options.impairments.everywhere = impairment;
  options.impairments.seed = kSeed;
  return options;
}

Impairment loses(double probability) {
  Impairment made;
  made.loss = probability;
  return made;
}

TEST(FateOfPackets, FollowsTheProbabilities) {
  Impairments impairments;
  impairments.seed = kSeed;
  impairments.everywhere.loss = 0.1;
  impairments.everywhere.duplicate = 0.25;
  impairments.everywhere.delay = kMillisecond;
  impairments.everywhere.jitter = kMillisecond;
  FateOfPackets fates(impairments);
  constexpr int kPackets = 100'000;
  int lost = 0;
  int duplicated = 0;
  Nanos delays = 0;
  for (int i = 0; i < kPackets; ++i) {
    const Fate fate = fates.decide(IpAddress::fromV4(1));
    lost += fate.lost ? 1 : 0;
    duplicated += fate.duplicated ? 1 : 0;
    if (fate.lost) continue;
    EXPECT_TRUE(fate.delayed);
    EXPECT_GE(fate.delay, kMillisecond);
    EXPECT_LE(fate.delay, 2 * kMillisecond);
    delays += fate.delay;
  }
  // Five standard deviations.
  EXPECT_NEAR(lost, 0.1 * kPackets, 480);
  EXPECT_NEAR(duplicated, 0.25 * (kPackets - lost), 660);
  EXPECT_NEAR(static_cast<double>(delays) / (kPackets - lost), 1.5 * kMillisecond,
              0.01 * kMillisecond);
}

TEST(FateOfPackets, GoesByTheDestination) {
  Impairments impairments;
  impairments.everywhere = loses(1);
  impairments.towards[IpAddress::fromV4(7)] = loses(0);
  FateOfPackets fates(impairments);
  EXPECT_TRUE(fates.decide(IpAddress::fromV4(1)).lost);
  EXPECT_FALSE(fates.decide(IpAddress::fromV4(7)).lost);
}

TEST(FateOfPackets, IsTheSameForTheSameSeed) {
  Impairments impairments;
  impairments.everywhere = loses(0.5);
  impairments.seed = kSeed;
  FateOfPackets one(impairments);
  FateOfPackets other(impairments);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.decide({}).lost, other.decide({}).lost);
}

TEST(SoftImpairment, RefusesWhatMakesNoSense) {
  Impairment wrong;
  wrong.loss = 1.1;
  EXPECT_FALSE(openSoftDevice(freshLoopback(), everywhere(wrong)));
  wrong = {};
  wrong.duplicate = -0.1;
  EXPECT_FALSE(openSoftDevice(freshLoopback(), everywhere(wrong)));
  wrong = {};
  wrong.delay = -1;
  EXPECT_FALSE(openSoftDevice(freshLoopback(), everywhere(wrong)));
  wrong = {};
  wrong.jitter = 11 * kSecond;
  SoftOptions one_way;
  one_way.impairments.towards[IpAddress::fromV4(0x7F000001)] = wrong;
  const auto refused = openSoftDevice(freshLoopback(), one_way);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "impairment to 127.0.0.1: delay and jitter are from 0 to 10s");
}

// Everything lost on purpose is counted, and still departs as far as the sender knows.
TEST(SoftImpairment, LosesWhatItSays) {
  SoftHost a(everywhere(loses(0.3)));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  constexpr std::size_t kMessages = 2000;
  for (std::size_t i = 0; i < kMessages; ++i) a.send(b.address(), {1}, i);
  ASSERT_TRUE(a.untilSent(kMessages));
  const std::uint64_t lost = a.drops("impairment_loss");
  EXPECT_NEAR(static_cast<double>(lost), 600, 103);  // five standard deviations
  ASSERT_TRUE(b.untilReceived(kMessages - lost));
  b.until([] { return true; });
  EXPECT_EQ(b.received.size(), kMessages - lost);
  for (const UdSent& sent : a.sent) EXPECT_TRUE(sent.ok && sent.ticks);
}

TEST(SoftImpairment, DelaysAfterTheDepartureIsKnown) {
  Impairment slow;
  slow.delay = 20 * kMillisecond;
  SoftHost a(everywhere(slow));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  a.send(b.address(), {1});
  EXPECT_EQ(a.endpoint->nextWake(), 0) << "the departure is there to be polled";
  a.poll();
  ASSERT_EQ(a.sent.size(), 1U);
  const Nanos left = a.endpoint->nextWake() - monotonicNow();
  EXPECT_GT(left, 0);
  EXPECT_LE(left, slow.delay);
  b.poll();
  EXPECT_TRUE(b.received.empty());
  ASSERT_TRUE(a.until([&] {
    b.poll();
    return !b.received.empty();
  }));
  ASSERT_TRUE(a.sent[0].ticks && b.received[0].ticks);
  const auto network = static_cast<Nanos>(*b.received[0].ticks - *a.sent[0].ticks);
  EXPECT_GE(network, slow.delay);
  EXPECT_LT(network, slow.delay + kSecond);
  EXPECT_EQ(a.sent.size(), 1U) << "its second departure is nobody's";
  EXPECT_EQ(a.endpoint->nextWake(), INT64_MAX);
}

TEST(SoftImpairment, DoublesAndKeepsTheOrderOfEqualDelays) {
  Impairment twice;
  twice.duplicate = 1;
  twice.delay = kMillisecond;
  SoftHost a(everywhere(twice));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  for (std::uint8_t i = 0; i < 100; ++i)
    ASSERT_EQ(a.post(b.address(), {i}, i), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(a.until([&] {
    b.poll();
    return b.received.size() == 200;
  }));
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(b.received[i].payload[0], i / 2);
  EXPECT_EQ(a.sent.size(), 100U);
}

TEST(SoftImpairment, DoublesWithoutADelay) {
  Impairment twice;
  twice.duplicate = 1;
  SoftHost a(everywhere(twice));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  a.send(b.address(), {5});
  ASSERT_TRUE(b.untilReceived(2));
  ASSERT_TRUE(a.untilSent(1));
  EXPECT_LE(*a.sent[0].ticks, *b.received[0].ticks);
  a.poll();
  EXPECT_EQ(a.sent.size(), 1U);
}

TEST(SoftImpairment, ShufflesWithJitter) {
  Impairment jittery;
  jittery.jitter = 5 * kMillisecond;
  SoftHost a(everywhere(jittery));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  for (std::uint8_t i = 0; i < 100; ++i)
    ASSERT_EQ(a.post(b.address(), {i}, i), PostResult::kPosted);
  a.endpoint->flush();
  ASSERT_TRUE(a.until([&] {
    b.poll();
    return b.received.size() == 100;
  }));
  EXPECT_FALSE(
      std::is_sorted(b.received.begin(), b.received.end(),
                     [](const auto& x, const auto& y) { return x.payload[0] < y.payload[0]; }));
}

TEST(SoftImpairment, HoldsNoMoreThanItHasRoomFor) {
  Impairment slow;
  slow.delay = 10 * kSecond;
  SoftHost a(everywhere(slow));
  SoftHost b;
  ASSERT_TRUE(a.endpoint && b.endpoint);
  std::size_t posted = 0;
  while (a.post(b.address(), {1}, posted) == PostResult::kPosted) {
    if (++posted % 64 != 0) continue;
    a.endpoint->flush();
    a.poll();
  }
  EXPECT_EQ(posted, 4096U);
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_impairment_test
