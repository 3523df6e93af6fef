#include "wire/burst_codec.h"

#include <gtest/gtest.h>

#include <functional>

namespace pingloom::wire::burst_codec_test {
namespace {

pingloom::BurstPing answered() {
  pingloom::BurstPing ping;
  ping.sequence = 100;
  ping.fate = PingFate::kReceived;
  ping.network = 4000;
  ping.responder = 21'000;
  ping.prober = 0;
  ping.rtt = 60'000;
  return ping;
}

TEST(BurstCodec, RoundTrips) {
  pingloom::BurstPing lost{1, PingFate::kLost};
  lost.late = true;
  pingloom::BurstPing anomalous{2, PingFate::kReceived};
  anomalous.anomaly = Anomaly::kClockStep;
  anomalous.ack_lost = true;
  for (const auto& ping :
       {answered(), lost, anomalous, pingloom::BurstPing{3, PingFate::kNotSent}}) {
    BurstPing message;
    encode(ping, message);
    const auto back = decode(message);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, ping);
  }
}

TEST(BurstCodec, RefusesWhatIsOutOfBounds) {
  const std::vector<std::function<void(BurstPing&)>> spoilers = {
      [](BurstPing& ping) { ping.set_sequence(0); },
      [](BurstPing& ping) { ping.set_sequence(101); },
      [](BurstPing& ping) { ping.set_fate(0); },
      [](BurstPing& ping) { ping.set_fate(6); },
      [](BurstPing& ping) { ping.set_anomaly(5); },
      [](BurstPing& ping) { ping.set_rtt_ns(UINT64_MAX); },
      [](BurstPing& ping) { ping.set_fate(2); },  // lost, with times
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    BurstPing message;
    encode(answered(), message);
    spoilers[i](message);
    EXPECT_FALSE(decode(message)) << i;
  }
}

}  // namespace
}  // namespace pingloom::wire::burst_codec_test
