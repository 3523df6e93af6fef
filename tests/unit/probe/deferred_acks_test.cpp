// Follows what a responder owes its probers, on a virtual clock.
#include "probe/deferred_acks.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace pingloom::probe::deferred_acks_test {
namespace {

using Deferred = DeferredAcks<int>;  // the reply is a number

PingSource sourceOf(std::uint32_t host, std::uint32_t label = 0, std::uint32_t probe = 1) {
  return {IpAddress::fromV4(host), IpAddress::fromV4(99), 20'710, label, probe};
}

class DeferredAcksTest : public testing::Test {
 protected:
  // Keeps what has to be acknowledged.
  auto keeper() {
    return [this](const Deferred::Source& source, const Deferred::Answered& one) {
      acknowledged.push_back(one.residence.id);
      EXPECT_EQ(one.nonce, one.residence.id + 1000ULL);
      reply = source.reply;
    };
  }
  // Hands the exchange with this id to the source, as known after `ns`.
  void answered(const Deferred::Source& source, std::uint32_t id, std::uint32_t ns = 5) {
    Deferred::add(source, {id + 1000ULL, {id, ns, true, false}}, keeper());
  }
  // Returns the ids that the next PONG to the source carries.
  static std::vector<std::uint32_t> told(const Deferred::Source& source) {
    wire::ProbeMessage pong;
    Deferred::addTo(pong, source);
    Deferred::told(source);
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < pong.residence_count; ++i) ids.push_back(pong.residences[i].id);
    return ids;
  }
  std::vector<std::uint32_t> expired(Nanos now) {
    acknowledged.clear();
    deferred.expire(now, keeper());
    return acknowledged;
  }
  Deferred deferred;
  std::vector<std::uint32_t> acknowledged;
  int reply = 0;
};

TEST_F(DeferredAcksTest, TheNextPongsCarryAnExchangeFourTimes) {
  const auto* source = deferred.pinged(sourceOf(1), 7, 0);
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(told(*source).empty());
  answered(*source, 1);
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{1}));
  answered(*source, 2);
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{2, 1}));
  answered(*source, 3);
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{3, 2, 1}));
  answered(*source, 4);
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{4, 3, 2, 1}));
  answered(*source, 5);
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{5, 4, 3, 2}));
  EXPECT_TRUE(acknowledged.empty());
}

// Otherwise the answers to a prober that pings quickly could become larger than its PINGs.
TEST_F(DeferredAcksTest, NothingIsToldMoreThanFourTimes) {
  const auto* source = deferred.pinged(sourceOf(1), 7, 0);
  answered(*source, 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(told(*source).size(), 1U);
  EXPECT_TRUE(told(*source).empty());
}

TEST_F(DeferredAcksTest, WithoutAnotherPingItIsAcknowledged) {
  const auto* source = deferred.pinged(sourceOf(1), 7, kSecond);
  answered(*source, 1);
  EXPECT_EQ(deferred.nextExpiry(), kSecond + Deferred::kWait);
  EXPECT_TRUE(expired(kSecond + Deferred::kWait - 1).empty());
  EXPECT_EQ(expired(kSecond + Deferred::kWait), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(reply, 7);
  EXPECT_EQ(deferred.size(), 0U);
  EXPECT_EQ(deferred.nextExpiry(), kNever);
}

TEST_F(DeferredAcksTest, WhatAPongHasCarriedNeedsNoAck) {
  const auto* source = deferred.pinged(sourceOf(1), 7, 0);
  answered(*source, 1);
  deferred.pinged(sourceOf(1), 8, kSecond);
  told(*source);
  answered(*source, 2);
  EXPECT_TRUE(expired(Deferred::kWait).empty()) << "the second PING has come";
  EXPECT_EQ(expired(kSecond + Deferred::kWait), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(reply, 8) << "the newest PING says how to reply";
}

TEST_F(DeferredAcksTest, WhatHasNoRoomInTheNextPongIsAcknowledgedAtOnce) {
  const auto* source = deferred.pinged(sourceOf(1), 7, 0);
  for (std::uint32_t id = 1; id <= 6; ++id) answered(*source, id);
  EXPECT_EQ(acknowledged, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(told(*source), (std::vector<std::uint32_t>{6, 5, 4, 3}));
}

TEST_F(DeferredAcksTest, PathsAndProbesAreSourcesOfTheirOwn) {
  const auto* first = deferred.pinged(sourceOf(1, 1, 1), 1, 0);
  const auto* label = deferred.pinged(sourceOf(1, 2, 1), 2, 0);
  const auto* probe = deferred.pinged(sourceOf(1, 1, 2), 3, 0);
  const auto* host = deferred.pinged(sourceOf(2, 1, 1), 4, 0);
  answered(*first, 1);
  for (const auto* other : {label, probe, host}) EXPECT_TRUE(told(*other).empty());
  EXPECT_EQ(deferred.pinged(sourceOf(1, 1, 1), 1, 0), first);
  EXPECT_EQ(deferred.size(), 4U);
}

TEST_F(DeferredAcksTest, ASourceStaysWhileAPongIsInFlight) {
  const auto* source = deferred.pinged(sourceOf(1), 7, 0);
  ++source->in_flight;
  EXPECT_TRUE(expired(Deferred::kWait).empty());
  ASSERT_EQ(deferred.size(), 1U);
  --source->in_flight;
  answered(*source, 1);
  EXPECT_EQ(expired(2 * Deferred::kWait), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(deferred.size(), 0U);
}

TEST_F(DeferredAcksTest, ThereIsRoomForALimitedNumberOfSources) {
  for (std::uint32_t i = 0; i < Deferred::kMaxSources; ++i) {
    ASSERT_NE(deferred.pinged(sourceOf(i), 1, 0), nullptr);
  }
  EXPECT_EQ(deferred.pinged(sourceOf(1 << 20), 1, 0), nullptr);
  EXPECT_NE(deferred.pinged(sourceOf(5), 1, kSecond), nullptr) << "known already";
  expired(Deferred::kWait);
  EXPECT_EQ(deferred.size(), 1U);
  EXPECT_NE(deferred.pinged(sourceOf(1 << 20), 1, 2 * kSecond), nullptr);
}

}  // namespace
}  // namespace pingloom::probe::deferred_acks_test
