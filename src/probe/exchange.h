// What the timestamps of one exchange say: pure functions, the same for every transport that speaks
// PING, PONG and ACK.
#pragma once

#include <cstdint>
#include <optional>

#include "common/tick_clock.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "probe/instant.h"
#include "probe/window.h"

namespace pingloom::probe {

enum class AckState : std::uint8_t {
  kMissing,  // none came
  kNoTime,   // it came, but the responder has no T3 - T2
  kTime,
};

struct ExchangeTimes {
  Instant sent;            // T0, before the PING was handed to the kernel or the device
  Instant handled;         // T5, when its PONG was handled
  std::uint64_t t1 = 0;    // ticks of the transport's clock; only with has_t1
  std::uint64_t t4 = 0;    // likewise
  Nanos responder_ns = 0;  // T3 - T2; only with kTime
  bool has_t1 = false;
  bool has_t4 = false;
  AckState ack = AckState::kMissing;
};

// What is taken for a step of the clock: more than two readings of it can be apart.
constexpr Nanos kClockMargin = kMicrosecond;
// A NIC's oscillator and the host's run apart by less than this, in parts per million.
constexpr Nanos kDriftPpm = 500;

// CLOCK_REALTIME was set while the exchange was under way.
bool clockStepped(const ExchangeTimes& times);
// T1 and T4 are there and lie where they can lie: T0 <= T1 <= T4 where the clock is the kernel's or
// this process's. (A timestamp of another packet, which a kernel delivers after a failed send, does
// not.) A NIC's clock has no relation to T0; there, nothing more can be said than that it has not
// wrapped round within the round trip.
bool timesFit(const ExchangeTimes& times, const TickClock& clock);
// Whether PONG came before the timeout, by T1 and T4 where they are known: it does not matter when
// this process got round to it.
bool inTime(const ExchangeTimes& times, const TickClock& clock, Nanos timeout);

struct Verdict {
  std::optional<Anomaly> anomaly;
  bool ack_lost = false;
  bool has_rtt = false;
  bool has_split = false;  // the three below
  Nanos rtt = 0;
  Nanos network = 0;
  Nanos responder = 0;
  Nanos prober = 0;
};

// Of an exchange whose PONG came in time. `stalled`: a stall of this host or of the responder
// touched it. Anomalies stay out of every distribution, but for no_timestamp, which leaves the rtt
// as valid as a lost ACK does.
Verdict judge(const ExchangeTimes& times, const TickClock& clock, bool stalled);

// Counts an answered exchange: sent, received and what the verdict says.
void addReceived(const Verdict& verdict, PairWindow& window);

}  // namespace pingloom::probe
