// Pure functions on the timestamps of one exchange. Every transport that exchanges PING, PONG and
// ACK uses them.
#pragma once

#include <cstdint>
#include <optional>

#include "common/tick_clock.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "probe/window.h"

namespace pingloom::probe {

enum class AckState : std::uint8_t {
  kMissing,  // neither an ACK nor a later PONG has told of T3 - T2
  kNoTime,   // the responder has told that it does not know T3 - T2
  kTime,     // the responder has told T3 - T2
};

struct ExchangeTimes {
  Instant sent;            // T0, before the PING was handed to the kernel or the device
  Instant handled;         // T5, when its PONG was handled
  std::uint64_t t1 = 0;    // in ticks of the transport's clock; valid with has_t1
  std::uint64_t t4 = 0;    // in ticks of the transport's clock; valid with has_t4
  Nanos responder_ns = 0;  // T3 - T2; valid with AckState::kTime
  bool has_t1 = false;
  bool has_t4 = false;
  AckState ack = AckState::kMissing;
};

// A larger difference than this between two readings of the clock counts as a step of the clock.
constexpr Nanos kClockMargin = kMicrosecond;
// A NIC's oscillator drifts from the host's by less than this, in parts per million.
constexpr Nanos kDriftPpm = 500;

// Whether CLOCK_REALTIME was set while the exchange was in flight.
bool clockStepped(const ExchangeTimes& times);
// Whether T1 and T4 are known and plausible. On the kernel's clock and on this process's clock that
// is T0 <= T1 <= T4; after a failed send a kernel may deliver the timestamp of another packet,
// which breaks this order. A NIC's clock has no relation to T0, so the only check is that it has
// not wrapped around within the round trip.
bool timesFit(const ExchangeTimes& times, const TickClock& clock);
// Whether the PONG arrived before the timeout. Where T1 and T4 are known they decide, because the
// time at which this process handled the PONG says little about the network.
bool inTime(const ExchangeTimes& times, const TickClock& clock, Nanos timeout);

struct Verdict {
  std::optional<Anomaly> anomaly;
  bool ack_lost = false;
  bool has_rtt = false;
  bool has_split = false;  // whether network, responder and prober are known
  Nanos rtt = 0;
  Nanos network = 0;
  Nanos responder = 0;
  Nanos prober = 0;
};

// Judges an exchange whose PONG arrived in time. `stalled` says that a stall of this host or of the
// responder overlapped it. Anomalous exchanges enter no distribution, except that no_timestamp and
// a lost ACK leave the rtt valid.
Verdict judge(const ExchangeTimes& times, const TickClock& clock, bool stalled);

// Counts an answered exchange: as sent, as received, and with the values of its verdict.
void addReceived(const Verdict& verdict, PairWindow& window);

}  // namespace pingloom::probe
