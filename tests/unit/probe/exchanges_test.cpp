// Follows PINGs to their verdicts on a virtual clock, without sockets.
#include "probe/exchanges.h"

#include <gtest/gtest.h>

namespace pingloom::probe::exchanges_test {
namespace {

constexpr Nanos kUtc = 1'800'000'000 * kSecond;
constexpr Nanos kTimeout = 500 * kMillisecond;
constexpr std::uint16_t kPort = 20'710;

Instant at(Nanos mono) { return {mono, kUtc + mono}; }

std::shared_ptr<plan::Assignment> assignmentTo(std::initializer_list<std::uint32_t> hosts) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "mesh";
  made->probe.timeout = kTimeout;
  for (const std::uint32_t host : hosts) made->destinations.push_back(IpAddress::fromV4(host));
  return made;
}

class ExchangesTest : public testing::Test {
 protected:
  ExchangesTest() { tasks.replace({assignmentTo({1, 2, 3})}, 0); }

  // Opens a PING to host target + 1, which leaves the kernel 1 us after T0.
  wire::ProbeMessage ping(std::uint32_t target, Nanos now) {
    Exchange* made = exchanges.open(0, target, ++last_nonce, at(now - 5));
    exchanges.sending(made->id, at(now));
    exchanges.stamped(made->id, static_cast<std::uint64_t>(kUtc + now + kMicrosecond));
    wire::ProbeMessage message;
    message.id = made->id;
    message.nonce = made->nonce;
    return message;
  }
  std::optional<DropReason> answer(wire::ProbeMessage message, wire::ProbeType type,
                                   std::uint32_t host, Nanos arrived, Nanos handled) {
    message.type = type;
    return exchanges.answered(
        {message, {IpAddress::fromV4(host), kPort}, static_cast<std::uint64_t>(kUtc + arrived)},
        at(handled));
  }
  std::optional<DropReason> pong(const wire::ProbeMessage& message, std::uint32_t host,
                                 Nanos arrived) {
    return answer(message, wire::ProbeType::kPong, host, arrived, arrived + 2 * kMicrosecond);
  }
  std::optional<DropReason> ack(wire::ProbeMessage message, std::uint32_t host, Nanos now) {
    message.responder_ns = 3 * kMicrosecond;
    return answer(message, wire::ProbeType::kAck, host, now, now);
  }
  // A PONG to `message` that tells of an earlier exchange of the pair.
  std::optional<DropReason> telling(wire::ProbeMessage message, const wire::Residence& residence,
                                    std::uint32_t host, Nanos arrived) {
    message.residences[0] = residence;
    message.residence_count = 1;
    return pong(message, host, arrived);
  }
  // Returns the counts of host target + 1 in the only window.
  const PairWindow& window(std::uint32_t target) {
    return tasks[0].windows.windowFor(target, tasks[0].windows.open(0));
  }
  std::uint32_t anomalies(std::uint32_t target, Anomaly anomaly) {
    return window(target).anomalous[static_cast<std::size_t>(anomaly)];
  }

  WindowClock clock{kUtc};
  WindowQueue queue;
  TaskList tasks{ClockSource::kKernel, 1, clock, queue};
  StallWatch stalls;
  Exchanges exchanges{tasks, stalls, TickClock::nanoseconds(ClockSource::kKernel),
                      StallRule::kSpoils, kPort};
  std::uint64_t last_nonce = 7000;
};

TEST_F(ExchangesTest, PongAndAckMakeAResult) {
  const auto sent = ping(1, kSecond);
  EXPECT_EQ(pong(sent, 2, kSecond + 11 * kMicrosecond), std::nullopt);
  EXPECT_EQ(window(1).received, 0U) << "the ACK is still to come";
  EXPECT_EQ(ack(sent, 2, kSecond + 20 * kMicrosecond), std::nullopt);
  EXPECT_EQ(window(1).sent, 1U);
  EXPECT_EQ(window(1).received, 1U);
  EXPECT_EQ(window(1).network.sum(), 7000U);
  EXPECT_EQ(window(1).responder.sum(), 3000U);
  EXPECT_EQ(window(1).rtt.sum(), 13'000U);
  EXPECT_EQ(window(1).prober.sum(), 3000U);
  EXPECT_EQ(exchanges.size(), 1U) << "kept for duplicates";
  exchanges.expire(kSecond + kTimeout + kWindowGrace);
  EXPECT_EQ(exchanges.size(), 0U);
  EXPECT_EQ(window(1).sent, 1U) << "once only";
}

TEST_F(ExchangesTest, ALaterPongBringsTheResponderTime) {
  const auto first = ping(1, kSecond);
  pong(first, 2, kSecond + 11 * kMicrosecond);
  const auto second = ping(1, 2 * kSecond);
  EXPECT_EQ(window(1).received, 0U);
  telling(second, {first.id, 3000, true, false}, 2, 2 * kSecond + 11 * kMicrosecond);
  EXPECT_EQ(window(1).received, 1U) << "the first";
  EXPECT_EQ(window(1).network.sum(), 7000U);
  EXPECT_EQ(window(1).responder.sum(), 3000U);
  EXPECT_EQ(window(1).prober.sum(), 3000U);
  const auto third = ping(1, 2 * kSecond + 500 * kMillisecond);
  telling(third, {first.id, 9000, true, false}, 2, 2 * kSecond + 500'011 * kMicrosecond);
  EXPECT_EQ(window(1).received, 1U) << "it was told before";
  ack(second, 2, 2 * kSecond + 600 * kMillisecond);
  EXPECT_EQ(window(1).received, 2U);
  exchanges.expire(5 * kSecond);
  EXPECT_EQ(window(1).received, 3U);
  EXPECT_EQ(window(1).ack_lost, 1U) << "nobody told of the third";
  EXPECT_EQ(window(1).responder.sum(), 6000U);
}

TEST_F(ExchangesTest, ALaterPongMayComeBeforeAnEarlierOne) {
  const auto first = ping(1, kSecond);
  const auto second = ping(1, kSecond + kMillisecond);
  telling(second, {first.id, 3000, true, false}, 2, kSecond + 1'011 * kMicrosecond);
  EXPECT_EQ(window(1).received, 0U);
  pong(first, 2, kSecond + 2 * kMillisecond);
  EXPECT_EQ(window(1).received, 1U);
  EXPECT_EQ(window(1).responder.sum(), 3000U);
}

TEST_F(ExchangesTest, ALaterPongTellsOfStallsAndOfTimesThatAreUnknown) {
  const auto stalled = ping(1, kSecond);
  const auto unknown = ping(1, kSecond + kMicrosecond);
  pong(stalled, 2, kSecond + 11 * kMicrosecond);
  pong(unknown, 2, kSecond + 12 * kMicrosecond);
  auto last = ping(1, 2 * kSecond);
  last.residences = {{{stalled.id, 3000, true, true}, {unknown.id, 0, false, false}}};
  last.residence_count = 2;
  pong(last, 2, 2 * kSecond + 11 * kMicrosecond);
  EXPECT_EQ(window(1).received, 2U);
  EXPECT_EQ(anomalies(1, Anomaly::kStalled), 1U);
  EXPECT_EQ(anomalies(1, Anomaly::kNoTimestamp), 1U);
  EXPECT_EQ(window(1).responder.count(), 0U);
}

TEST_F(ExchangesTest, AHostTellsOnlyOfItsOwnExchanges) {
  const auto others = ping(0, kSecond);
  pong(others, 1, kSecond + 11 * kMicrosecond);
  const auto own = ping(1, kSecond);
  telling(own, {others.id, 1, true, false}, 2, kSecond + 11 * kMicrosecond);
  EXPECT_EQ(window(0).received, 0U);
  const auto again = ping(1, kSecond);
  telling(again, {12345U << 17, 1, true, false}, 2, kSecond + 11 * kMicrosecond);
  auto forged = ping(1, kSecond);
  ++forged.nonce;
  EXPECT_EQ(telling(forged, {own.id, 1, true, false}, 2, kSecond + 11 * kMicrosecond),
            DropReason::kNonce);
  EXPECT_EQ(window(1).received, 0U) << "nothing is told by a PONG that is not genuine";
}

TEST_F(ExchangesTest, PingsThatAreWaitedForGetTheirAcksAtOnce) {
  exchanges.setOneOff(true);
  const auto message = exchanges.pingOf(*exchanges.open(0, 1, 99, at(kSecond)));
  EXPECT_FALSE(message.deferrable());
  EXPECT_FALSE(message.counted());
}

TEST_F(ExchangesTest, WhatIsAnsweredCountsWhenAllIsForgotten) {
  const auto answered = ping(1, kSecond);
  ping(1, kSecond);
  pong(answered, 2, kSecond + 11 * kMicrosecond);
  exchanges.settleAndForgetAll();
  EXPECT_EQ(exchanges.size(), 0U);
  EXPECT_EQ(window(1).sent, 1U);
  EXPECT_EQ(window(1).received, 1U);
  EXPECT_EQ(window(1).ack_lost, 1U);
  EXPECT_EQ(window(1).rtt.count(), 1U);
}

TEST_F(ExchangesTest, AStallIsNotForgottenUntilTheResponderTimeIsTold) {
  const auto first = ping(1, kSecond);
  stalls.observed(kSecond, kSecond + 30 * kMillisecond);
  pong(first, 2, kSecond + 30 * kMillisecond);
  for (int i = 1; i <= 100; ++i) {
    const Nanos later = kSecond + i * 50 * kMillisecond;
    stalls.observed(later, later + 30 * kMillisecond);
  }
  ack(first, 2, kSecond + 900 * kMillisecond);
  EXPECT_EQ(anomalies(1, Anomaly::kStalled), 1U);
}

TEST_F(ExchangesTest, PingsThatFollowWithinASecondNeedNoAckAtOnce) {
  const auto deferrable = [&](Nanos interval, Nanos timeout) {
    auto made = assignmentTo({1, 2, 3});
    made->probe.interval = interval;
    made->probe.timeout = timeout;
    tasks[0].assignment = made;
    return exchanges.pingOf(*exchanges.open(0, 1, 99, at(kSecond))).deferrable();
  };
  EXPECT_TRUE(deferrable(kSecond, 500 * kMillisecond));
  EXPECT_TRUE(deferrable(kMillisecond, 200 * kMillisecond));
  EXPECT_FALSE(deferrable(kSecond + 1, 500 * kMillisecond));
  EXPECT_FALSE(deferrable(kMillisecond, 199 * kMillisecond)) << "the ACK would come too late";
}

class Heard : public PingListener {
 public:
  void pingEvent(PingEvent event, const plan::Assignment& assignment, const IpAddress& destination,
                 Nanos after) override {
    events.push_back(std::string(name(event)) + " " + assignment.probe.name + " " +
                     destination.text() + " " + std::to_string(after / kMillisecond));
  }
  std::vector<std::string> events;
};

TEST_F(ExchangesTest, AListenerHearsOfALostPingAtItsTimeoutAndOfALateAnswer) {
  Heard heard;
  exchanges.setListener(&heard);
  const auto lost = ping(0, kSecond);
  const auto good = ping(1, kSecond);
  pong(good, 2, kSecond + 11 * kMicrosecond);
  ack(good, 2, kSecond + 20 * kMicrosecond);
  EXPECT_LE(exchanges.nextWake(), kSecond + kTimeout + 10 * kMillisecond);
  exchanges.expire(kSecond + kTimeout - 1);
  EXPECT_TRUE(heard.events.empty());
  exchanges.expire(kSecond + kTimeout);
  exchanges.expire(kSecond + kTimeout + 1);
  EXPECT_EQ(heard.events, std::vector<std::string>{"lost mesh 0.0.0.1 500"});
  EXPECT_EQ(window(0).lost, 0U) << "the window still waits for a late answer";
  pong(lost, 1, kSecond + kTimeout + 100 * kMillisecond);
  EXPECT_EQ(heard.events.back(), "late mesh 0.0.0.1 600");
  exchanges.expire(kSecond + kTimeout + kWindowGrace);
  EXPECT_EQ(heard.events.size(), 2U);
  EXPECT_EQ(window(0).lost, 1U);
  EXPECT_EQ(window(0).late, 1U);
}

TEST_F(ExchangesTest, AListenerHearsOfFailures) {
  Heard heard;
  exchanges.setListener(&heard);
  exchanges.failed(ping(0, kSecond).id, Failure::kRefused);
  exchanges.failed(ping(1, kSecond).id, Failure::kUnreachable);
  ASSERT_EQ(heard.events.size(), 2U);
  EXPECT_EQ(heard.events[0].rfind("refused mesh 0.0.0.1 ", 0), 0U) << heard.events[0];
  EXPECT_EQ(heard.events[1].rfind("unreachable mesh 0.0.0.2 ", 0), 0U) << heard.events[1];
}

TEST_F(ExchangesTest, AnAckMayOvertakeItsPong) {
  const auto sent = ping(0, kSecond);
  ack(sent, 1, kSecond + 10 * kMicrosecond);
  pong(sent, 1, kSecond + 11 * kMicrosecond);
  EXPECT_EQ(window(0).network.sum(), 7000U);
}

TEST_F(ExchangesTest, WhatDoesNotBelongIsDroppedWithTheReason) {
  const auto sent = ping(0, kSecond);
  const Nanos soon = kSecond + 10 * kMicrosecond;
  auto wrong = sent;
  wrong.id ^= 1U << 20;
  EXPECT_EQ(pong(wrong, 1, soon), DropReason::kUnknownId);
  wrong = sent;
  ++wrong.nonce;
  EXPECT_EQ(pong(wrong, 1, soon), DropReason::kNonce);
  EXPECT_EQ(ack(wrong, 1, soon), DropReason::kNonce);
  EXPECT_EQ(pong(sent, 2, soon), DropReason::kSource) << "another host";
  wrong = sent;
  wrong.type = wire::ProbeType::kPong;
  EXPECT_EQ(exchanges.answered({wrong, {IpAddress::fromV4(1), kPort + 1}, kUtc + soon}, at(soon)),
            DropReason::kSource)
      << "another port";
  EXPECT_EQ(pong(sent, 1, soon), std::nullopt) << "none of them did harm";
}

TEST_F(ExchangesTest, NoAnswerIsALossOnceTheGraceIsOver) {
  ping(2, kSecond);
  EXPECT_EQ(exchanges.nextExpiry(), kSecond + kTimeout + kWindowGrace);
  exchanges.expire(kSecond + kTimeout + kWindowGrace - 1);
  EXPECT_EQ(window(2).lost, 0U);
  exchanges.expire(kSecond + kTimeout + kWindowGrace);
  EXPECT_EQ(window(2).sent, 1U);
  EXPECT_EQ(window(2).lost, 1U);
}

TEST_F(ExchangesTest, ALateAnswerIsALossAndCountedLate) {
  const auto sent = ping(0, kSecond);
  pong(sent, 1, kSecond + kTimeout + 2 * kMicrosecond);
  EXPECT_EQ(window(0).late, 1U);
  EXPECT_EQ(window(0).received, 0U);
  ack(sent, 1, kSecond + kTimeout + kMillisecond);
  exchanges.expire(10 * kSecond);
  EXPECT_EQ(window(0).lost, 1U);
  EXPECT_EQ(window(0).sent, 1U);
  EXPECT_EQ(pong(sent, 1, 10 * kSecond), DropReason::kUnknownId);
}

TEST_F(ExchangesTest, ALateAnswerFromAStalledResponderIsNoLoss) {
  auto sent = ping(0, kSecond);
  sent.flags = wire::kFlagStalled;
  pong(sent, 1, kSecond + kTimeout + 300 * kMillisecond);
  sent.flags = 0;
  ack(sent, 1, kSecond + kTimeout + 301 * kMillisecond);
  EXPECT_EQ(window(0).received, 1U);
  EXPECT_EQ(window(0).late, 0U);
  EXPECT_EQ(anomalies(0, Anomaly::kStalled), 1U);
  EXPECT_EQ(window(0).network.count() + window(0).rtt.count(), 0U);
}

TEST_F(ExchangesTest, AnOwnStallIsNoLossWhereTheAnswerCameInTime) {
  const auto sent = ping(0, kSecond);
  stalls.watchUntil(kSecond, 10 * kSecond);
  stalls.tick(kSecond + 800 * kMillisecond);
  ASSERT_EQ(stalls.stalls(), 1U);
  answer(sent, wire::ProbeType::kPong, 1, kSecond + 10 * kMicrosecond,
         kSecond + 800 * kMillisecond);
  ack(sent, 1, kSecond + 801 * kMillisecond);
  EXPECT_EQ(window(0).received, 1U);
  EXPECT_EQ(anomalies(0, Anomaly::kStalled), 1U);
  EXPECT_EQ(window(0).rtt.count(), 0U);
}

TEST_F(ExchangesTest, ALostAckIsNoLostPing) {
  const auto sent = ping(0, kSecond);
  pong(sent, 1, kSecond + 11 * kMicrosecond);
  exchanges.expire(kSecond + kTimeout + kWindowGrace);
  EXPECT_EQ(window(0).received, 1U);
  EXPECT_EQ(window(0).ack_lost, 1U);
  EXPECT_EQ(window(0).lost, 0U);
  EXPECT_EQ(window(0).rtt.count(), 1U);
  EXPECT_EQ(window(0).network.count(), 0U);
}

TEST_F(ExchangesTest, DuplicatesAreCountedBeside) {
  const auto sent = ping(0, kSecond);
  pong(sent, 1, kSecond + 11 * kMicrosecond);
  pong(sent, 1, kSecond + 12 * kMicrosecond);
  ack(sent, 1, kSecond + 20 * kMicrosecond);
  ack(sent, 1, kSecond + 21 * kMicrosecond);
  pong(sent, 1, kSecond + kTimeout);
  EXPECT_EQ(window(0).duplicate, 2U);
  EXPECT_EQ(window(0).received, 1U);
  EXPECT_EQ(window(0).network.sum(), 7000U) << "the first ones count";
}

TEST_F(ExchangesTest, IcmpErrorsSettleOnlyWhatTheyQuote) {
  const auto sent = ping(0, kSecond);
  auto quoted = sent;
  ++quoted.nonce;
  exchanges.failedInNetwork(quoted, Failure::kRefused);
  EXPECT_EQ(window(0).refused, 0U) << "made up";
  exchanges.failedInNetwork(sent, Failure::kRefused);
  exchanges.failedInNetwork(sent, Failure::kRefused);
  EXPECT_EQ(window(0).refused, 1U);
  exchanges.failedInNetwork(ping(1, kSecond), Failure::kUnreachable);
  EXPECT_EQ(window(1).unreachable, 1U);
  exchanges.expire(10 * kSecond);
  EXPECT_EQ(window(0).sent, 1U);
  EXPECT_EQ(window(1).sent, 1U);
  EXPECT_EQ(window(0).lost + window(1).lost, 0U);
}

TEST_F(ExchangesTest, WhatWasNotSentIsNotCounted) {
  exchanges.cancel(ping(0, kSecond).id);
  exchanges.failed(ping(1, kSecond).id, Failure::kUnreachable);
  exchanges.expire(10 * kSecond);
  EXPECT_EQ(window(0).sent, 0U);
  EXPECT_EQ(window(1).sent, 1U);
  EXPECT_EQ(window(1).unreachable, 1U);
}

TEST_F(ExchangesTest, ResultsGoToTheWindowOfThePing) {
  const Nanos end = 10 * kSecond;  // the default window
  const auto sent = ping(0, end - kMillisecond);
  const auto index = tasks[0].windows.open(end - kMillisecond);
  ASSERT_EQ(tasks[0].windows.open(end + kMillisecond), index + 1);
  pong(sent, 1, end + 2 * kMillisecond);
  ack(sent, 1, end + 2 * kMillisecond);
  EXPECT_EQ(tasks[0].windows.windowFor(0, index).received, 1U);
  EXPECT_EQ(tasks[0].windows.windowFor(0, index + 1).received, 0U);
}

TEST_F(ExchangesTest, ThePingCarriesWhatItsAnswersEcho) {
  tasks[0].assignment = [] {
    auto made = assignmentTo({1, 2, 3});
    made->probe.payload = 300;
    return made;
  }();
  const Exchange* made = exchanges.open(0, 1, 99, at(kSecond));
  const wire::ProbeMessage message = exchanges.pingOf(*made);
  EXPECT_EQ(message.type, wire::ProbeType::kPing);
  EXPECT_EQ(message.clock, static_cast<std::uint8_t>(ClockSource::kKernel));
  EXPECT_EQ(message.length, 300U);
  EXPECT_EQ(message.id, made->id);
  EXPECT_EQ(message.nonce, 99U);
}

TEST_F(ExchangesTest, WakesForVerdictsALittleAfterTheyAreDue) {
  EXPECT_EQ(exchanges.nextWake(), kNever);
  ping(0, kSecond);
  EXPECT_GT(exchanges.nextWake(), exchanges.nextExpiry());
  EXPECT_LE(exchanges.nextWake(), exchanges.nextExpiry() + 100 * kMillisecond);
}

TEST_F(ExchangesTest, PairsThatStayKeepTheirExchanges) {
  const auto to_first = ping(0, kSecond);
  const auto to_third = ping(2, kSecond);
  // Host 1 leaves and host 9 joins, so host 3 moves from place 2 to place 1.
  exchanges.move(tasks.replace({assignmentTo({2, 3, 9})}, kSecond));
  EXPECT_EQ(exchanges.size(), 1U);
  EXPECT_EQ(pong(to_first, 1, kSecond + 11 * kMicrosecond), DropReason::kUnknownId);
  EXPECT_EQ(pong(to_third, 3, kSecond + 11 * kMicrosecond), std::nullopt);
  ack(to_third, 3, kSecond + 12 * kMicrosecond);
  EXPECT_EQ(window(1).received, 1U);
  exchanges.move(tasks.replace({}, kSecond));
  EXPECT_EQ(exchanges.size(), 0U);
}

// With correct timestamps a stall only adds to the time of the stalled side.
TEST_F(ExchangesTest, WhereOnlySoftwareClocksAreSpoiledAStallKeepsTheSplit) {
  Exchanges lenient(tasks, stalls, TickClock::nanoseconds(ClockSource::kKernel),
                    StallRule::kSpoilsSoftware, kPort);
  for (const ClockSource peer : {ClockSource::kKernel, ClockSource::kSoftware}) {
    const Exchange* made = lenient.open(0, 0, 5, at(kSecond));
    lenient.sending(made->id, at(kSecond));
    lenient.stamped(made->id, static_cast<std::uint64_t>(kUtc + kSecond + 10));
    Answer answer;
    answer.message.id = made->id;
    answer.message.nonce = 5;
    answer.message.type = wire::ProbeType::kPong;
    answer.message.flags = wire::kFlagStalled;
    answer.message.clock = static_cast<std::uint8_t>(peer);
    answer.from = {IpAddress::fromV4(1), kPort};
    answer.ticks = static_cast<std::uint64_t>(kUtc + 3 * kSecond);  // far beyond the timeout
    EXPECT_EQ(lenient.answered(answer, at(3 * kSecond)), std::nullopt);
    answer.message.type = wire::ProbeType::kAck;
    answer.message.responder_ns = 2 * kSecond - 1010;
    EXPECT_EQ(lenient.answered(answer, at(3 * kSecond)), std::nullopt);
  }
  EXPECT_EQ(window(0).received, 2U);
  EXPECT_EQ(window(0).network.count(), 1U);
  EXPECT_EQ(window(0).network.sum(), 1000U);
  EXPECT_EQ(anomalies(0, Anomaly::kStalled), 1U);
}

}  // namespace
}  // namespace pingloom::probe::exchanges_test
