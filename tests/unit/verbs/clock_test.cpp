// Exchanges between devices with different clocks: what the network took must come out, whatever
// the counters' rates, widths and wraps. The fake network's delays are exact.
#include <fmt/format.h>

#include <cmath>

#include "fake_host.h"

namespace pingloom::rdma::verbs::clock_test {
namespace {

struct Clock {
  std::uint64_t kilohertz;
  unsigned bits;
};
constexpr std::uint64_t kDelayMicros = 3000;

std::uint64_t maskOf(const Clock& clock) {
  return clock.bits == 64 ? ~0ULL : (1ULL << clock.bits) - 1;
}

// The offset with which the counter wraps at that time.
std::uint64_t offsetToWrapAt(const Clock& clock, Nanos mono) {
  const auto ticks = static_cast<std::uint64_t>(static_cast<long double>(mono) *
                                                static_cast<long double>(clock.kilohertz) / 1e6L);
  return (0 - ticks) & maskOf(clock);
}

struct Times {
  std::uint64_t t1 = 0;
  std::uint64_t t2 = 0;
  std::uint64_t t3 = 0;
  std::uint64_t t4 = 0;
};

Times exchange(Side& a, Side& b) {
  EXPECT_EQ(a.send(b.endpoint->address(), "ping"), PostResult::kPosted);
  const auto ping_left = a.nextSent();
  const auto ping = b.nextPacket();
  EXPECT_EQ(b.send(ping->from, a.endpoint->address(), "pong"), PostResult::kPosted);
  const auto pong_left = b.nextSent();
  const auto pong = a.nextPacket();
  EXPECT_TRUE(ping_left && ping_left->ok && pong_left && pong_left->ok && pong);
  return {*ping_left->ticks, ping->ticks, *pong_left->ticks, pong->ticks};
}

Nanos networkOf(const Side& a, const Side& b, const Times& times) {
  return a.endpoint->clock().between(times.t1, times.t4) -
         b.endpoint->clock().between(times.t2, times.t3);
}

class ClockPairs : public FakeVerbsTest,
                   public testing::WithParamInterface<std::pair<Clock, Clock>> {
 protected:
  void setClocks(Nanos wrap_at) {
    const auto& [a, b] = GetParam();
    setDevices(
        fmt::format("device nic_a clock_khz={} mask_bits={} offset={} delay_us={}\n"
                    "port 1\ngid 0 10.0.0.1 v2\n"
                    "device nic_b clock_khz={} mask_bits={} offset={} delay_us={}\n"
                    "port 1\ngid 0 10.0.0.2 v2\n",
                    a.kilohertz, a.bits, offsetToWrapAt(a, wrap_at), kDelayMicros, b.kilohertz,
                    b.bits, offsetToWrapAt(b, wrap_at), kDelayMicros));
  }
  // Exchanges over a wrap of the counter that comes after `lead`; whether one was under way then.
  bool exchangesOverAWrap(Nanos lead) {
    const auto& [clock_a, clock_b] = GetParam();
    const Nanos wrap_at = monotonicNow() + lead;
    setClocks(wrap_at);
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    EXPECT_EQ(a.endpoint->clock().source(), ClockSource::kHardware);
    EXPECT_EQ(a.endpoint->clock().kilohertz(), clock_a.kilohertz);
    EXPECT_EQ(b.endpoint->clock().mask(), maskOf(clock_b));
    // Each timestamp is cut to a whole tick, and so is each nanosecond.
    const auto tick = [](const Clock& clock) { return 1e6 / static_cast<double>(clock.kilohertz); };
    const Nanos cut = static_cast<Nanos>(std::ceil(tick(clock_a) + tick(clock_b))) + 2;
    bool a_wrapped = false;
    while (monotonicNow() < wrap_at + 20 * kMillisecond) {
      const Times times = exchange(a, b);
      a_wrapped |= times.t4 < times.t1;
      EXPECT_NEAR(networkOf(a, b, times), 2 * kDelayMicros * kMicrosecond, cut);
    }
    return a_wrapped;
  }
};

TEST_P(ClockPairs, NetworkTimeIsTheDelayEvenAcrossAWrap) {
  // They follow each other, so on a machine that is not busy the first time does; on a busy one it
  // may have wrapped before the first exchange.
  for (Nanos lead = 60 * kMillisecond; lead < 60 * kSecond; lead += lead / 2) {
    if (exchangesOverAWrap(lead)) return;
  }
  FAIL() << "no exchange was under way when the counter wrapped";
}

std::string nameOf(const testing::TestParamInfo<std::pair<Clock, Clock>>& info) {
  const auto& [a, b] = info.param;
  return fmt::format("{}kHz{}Bits{}kHz{}Bits", a.kilohertz, a.bits, b.kilohertz, b.bits);
}

INSTANTIATE_TEST_SUITE_P(Rates, ClockPairs,
                         testing::Values(std::pair(Clock{78'125, 32}, Clock{78'125, 32}),
                                         std::pair(Clock{156'250, 41}, Clock{1'000'000, 64}),
                                         std::pair(Clock{1'000'000, 64}, Clock{78'125, 48}),
                                         std::pair(Clock{1'000'000, 32}, Clock{333'333, 33}),
                                         std::pair(Clock{500'000, 63}, Clock{322'265, 40})),
                         nameOf);

class Timestamps : public FakeVerbsTest {
 protected:
  void expectSoftware(const std::string& attributes) {
    setDevices(
        "device nic_a delay_us=3000 " + attributes +
        "\nport 1\ngid 0 10.0.0.1 v2\n"
        "device nic_b delay_us=3000 clock_khz=156250 mask_bits=41\nport 1\ngid 0 10.0.0.2 v2\n");
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    EXPECT_EQ(a.endpoint->clock().source(), ClockSource::kSoftware);
    EXPECT_EQ(b.endpoint->clock().source(), ClockSource::kHardware);
    const Nanos before = monotonicNow();
    const Times times = exchange(a, b);
    const Nanos after = monotonicNow();
    // Taken just before the post, and when the completion was handled.
    EXPECT_GE(static_cast<Nanos>(times.t1), before);
    EXPECT_LE(static_cast<Nanos>(times.t4), after);
    EXPECT_GE(networkOf(a, b, times), 2 * kDelayMicros * kMicrosecond - kMicrosecond);
  }
};

TEST_F(Timestamps, ADeviceWithoutThemIsTimedInSoftware) { expectSoftware(""); }
TEST_F(Timestamps, AMaskWithoutAClockRateIsNoTimestamp) { expectSoftware("mask_bits=41"); }
TEST_F(Timestamps, ADriverWithoutSuchQueuesIsTimedInSoftware) {
  expectSoftware("clock_khz=156250 mask_bits=41 timestamp_queues=no");
}
TEST_F(Timestamps, ADriverWithoutPairsOnSuchQueuesIsTimedInSoftware) {
  expectSoftware("clock_khz=156250 mask_bits=41 timestamp_pairs=no");
}

}  // namespace
}  // namespace pingloom::rdma::verbs::clock_test
