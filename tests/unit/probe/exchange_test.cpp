#include "probe/exchange.h"

#include <gtest/gtest.h>

namespace pingloom::probe::exchange_test {
namespace {

constexpr TickClock kKernel = TickClock::nanoseconds(ClockSource::kKernel);
constexpr Nanos kUtc = 1'800'000'000 * kSecond;  // minus the monotonic clock

// T0 is at 1000, T1 at 2000, T4 at 12000 and T5 at 15000; the responder took 4000.
ExchangeTimes good() {
  ExchangeTimes times;
  times.sent = {1000, kUtc + 1000};
  times.t1 = kUtc + 2000;
  times.t4 = kUtc + 12'000;
  times.has_t1 = times.has_t4 = true;
  times.handled = {15'000, kUtc + 15'000};
  times.responder_ns = 4000;
  times.ack = AckState::kTime;
  return times;
}

TEST(Exchange, SplitsTheRoundTrip) {
  const Verdict verdict = judge(good(), kKernel, false);
  EXPECT_FALSE(verdict.anomaly);
  ASSERT_TRUE(verdict.has_split && verdict.has_rtt);
  EXPECT_EQ(verdict.rtt, 14'000);
  EXPECT_EQ(verdict.network, 6000);
  EXPECT_EQ(verdict.responder, 4000);
  EXPECT_EQ(verdict.prober, 4000);
  EXPECT_EQ(verdict.network + verdict.responder + verdict.prober, verdict.rtt);
}

TEST(Exchange, ALostAckLeavesTheRtt) {
  ExchangeTimes times = good();
  times.ack = AckState::kMissing;
  times.has_t1 = false;  // does not matter then
  const Verdict verdict = judge(times, kKernel, false);
  EXPECT_TRUE(verdict.ack_lost);
  EXPECT_TRUE(verdict.has_rtt);
  EXPECT_FALSE(verdict.has_split || verdict.anomaly);
}

TEST(Exchange, AMissingTimestampLeavesTheRtt) {
  for (int missing = 0; missing < 5; ++missing) {
    ExchangeTimes times = good();
    if (missing == 0) times.has_t1 = false;
    if (missing == 1) times.has_t4 = false;
    if (missing == 2) times.ack = AckState::kNoTime;
    if (missing == 3) times.t1 = times.sent.utc - 1;  // it is another packet's
    if (missing == 4) times.t1 = times.t4 + 1;
    const Verdict verdict = judge(times, kKernel, false);
    EXPECT_EQ(verdict.anomaly, Anomaly::kNoTimestamp) << missing;
    EXPECT_TRUE(verdict.has_rtt && !verdict.has_split) << missing;
  }
}

TEST(Exchange, AStallKeepsEverythingOut) {
  const Verdict verdict = judge(good(), kKernel, true);
  EXPECT_EQ(verdict.anomaly, Anomaly::kStalled);
  EXPECT_FALSE(verdict.has_rtt || verdict.has_split);
}

TEST(Exchange, PartsThatContradictEachOtherAreNegative) {
  ExchangeTimes times = good();
  times.responder_ns = 10'001;  // longer than T1 to T4
  EXPECT_EQ(judge(times, kKernel, false).anomaly, Anomaly::kNegative);
  times.responder_ns = 10'000;
  EXPECT_EQ(judge(times, kKernel, false).network, 0);
  times.responder_ns = INT64_MAX;
  EXPECT_EQ(judge(times, kKernel, false).anomaly, Anomaly::kNegative);
}

TEST(Exchange, NoticesASteppedClock) {
  for (const Nanos step : {Nanos{kSecond}, Nanos{-kSecond}, Nanos{5000}, Nanos{-5000}}) {
    ExchangeTimes times = good();  // stepped after T1
    times.t4 += step;
    times.handled.utc += step;
    EXPECT_TRUE(clockStepped(times)) << step;
    EXPECT_EQ(judge(times, kKernel, false).anomaly, Anomaly::kClockStep) << step;
  }
  ExchangeTimes back_and_forth = good();
  back_and_forth.t4 = back_and_forth.t1 + 15'001;  // more than T0 to T5 and the margin
  EXPECT_EQ(judge(back_and_forth, kKernel, false).anomaly, Anomaly::kClockStep);
  back_and_forth.t4 = back_and_forth.t1 + 14'500;  // within the margin
  EXPECT_EQ(judge(back_and_forth, kKernel, false).prober, 0);
}

TEST(Exchange, InTimeByTheKernelsClock) {
  ExchangeTimes times = good();
  times.handled = {5 * kSecond, kUtc + 5 * kSecond};  // this process handled it late
  EXPECT_TRUE(inTime(times, kKernel, 10'000));
  EXPECT_FALSE(inTime(times, kKernel, 9999));
  times.has_t1 = false;
  EXPECT_FALSE(inTime(times, kKernel, kSecond)) << "without it, by when it was handled";
  EXPECT_TRUE(inTime(times, kKernel, 5 * kSecond));
  times = good();
  times.t4 += kHour;  // the clock was set meanwhile
  times.handled.utc += kHour;
  EXPECT_TRUE(inTime(times, kKernel, 14'000));
}

TEST(Exchange, CountsWhatTheVerdictSays) {
  PairWindow window;
  addReceived(judge(good(), kKernel, false), window);
  addReceived(judge(good(), kKernel, true), window);
  ExchangeTimes times = good();
  times.ack = AckState::kMissing;
  addReceived(judge(times, kKernel, false), window);
  EXPECT_EQ(window.sent, 3U);
  EXPECT_EQ(window.received, 3U);
  EXPECT_EQ(window.ack_lost, 1U);
  EXPECT_EQ(window.anomalous[static_cast<std::size_t>(Anomaly::kStalled)], 1U);
  EXPECT_EQ(window.rtt.count(), 2U);
  EXPECT_EQ(window.network.count(), 1U);
  EXPECT_EQ(window.responder.sum(), 4000U);
  EXPECT_EQ(window.prober.sum(), 4000U);
}

// A NIC's clock of 78.125 MHz with 32 bits wraps between T1 and T4, which are 781 ticks apart.
ExchangeTimes onHardware() {
  ExchangeTimes times = good();
  times.t1 = 0xFFFFFFFF - 380;
  times.t4 = 400;
  return times;
}
constexpr TickClock kNic(ClockSource::kHardware, 78'125, 0xFFFFFFFF);

TEST(Exchange, ReadsTheNicsClockThroughAWrap) {
  const Verdict verdict = judge(onHardware(), kNic, false);
  ASSERT_TRUE(verdict.has_split);
  EXPECT_EQ(verdict.network, 9996 - 4000);
  EXPECT_EQ(verdict.prober, 14'000 - 9996);
  EXPECT_TRUE(inTime(onHardware(), kNic, 9996));
  EXPECT_FALSE(inTime(onHardware(), kNic, 9995));
}

TEST(Exchange, ANicsClockThatContradictsTheRoundTripIsAStep) {
  ExchangeTimes times = onHardware();
  times.t4 += 1000;  // 12.8 us more than there is between T0 and T5
  EXPECT_EQ(judge(times, kNic, false).anomaly, Anomaly::kClockStep);
  std::swap(times.t1, times.t4);  // T4 before T1
  EXPECT_EQ(judge(times, kNic, false).anomaly, Anomaly::kClockStep);
}

TEST(Exchange, ARoundTripLongerThanTheNicsClockRunsHasNoSplit) {
  ExchangeTimes times = onHardware();
  times.handled.mono = times.sent.mono + kNic.period();
  EXPECT_EQ(judge(times, kNic, false).anomaly, Anomaly::kNoTimestamp);
  EXPECT_FALSE(inTime(times, kNic, kSecond)) << "by when it was handled";
}

TEST(Exchange, ASteppedHostClockDoesNotTouchTheNics) {
  ExchangeTimes times = onHardware();
  times.handled.utc += kHour;
  EXPECT_TRUE(judge(times, kNic, false).has_split);
}

}  // namespace
}  // namespace pingloom::probe::exchange_test
