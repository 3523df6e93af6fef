#include "probe/exchange.h"

#include <algorithm>
#include <cstdlib>

namespace pingloom::probe {

bool clockStepped(const ExchangeTimes& times) {
  const Nanos by_utc = times.handled.utc - times.sent.utc;
  const Nanos by_mono = times.handled.mono - times.sent.mono;
  return std::abs(by_utc - by_mono) > kClockMargin;
}

namespace {

// Only the kernel's ticks come from CLOCK_REALTIME, which can be set.
bool isStepped(const ExchangeTimes& times, const TickClock& clock) {
  return clock.source() == ClockSource::kKernel && clockStepped(times);
}

bool isOrdered(std::uint64_t t1, std::uint64_t t4, Nanos sent) {
  return static_cast<std::uint64_t>(sent) <= t1 && t1 <= t4;
}

// Returns the longest T4 - T1 that is possible within the round trip.
Nanos longestFor(Nanos rtt, const TickClock& clock) {
  const Nanos drift = clock.source() == ClockSource::kHardware ? rtt / 1'000'000 * kDriftPpm : 0;
  return rtt + drift + kClockMargin;
}

}  // namespace

bool timesFit(const ExchangeTimes& times, const TickClock& clock) {
  if (!times.has_t1 || !times.has_t4) return false;
  switch (clock.source()) {
    case ClockSource::kKernel:
      return isOrdered(times.t1, times.t4, times.sent.utc);
    case ClockSource::kSoftware:
      return isOrdered(times.t1, times.t4, times.sent.mono);
    case ClockSource::kHardware:
      break;
  }
  return times.handled.mono - times.sent.mono < clock.period();
}

bool inTime(const ExchangeTimes& times, const TickClock& clock, Nanos timeout) {
  const Nanos rtt = times.handled.mono - times.sent.mono;
  if (timesFit(times, clock) && !isStepped(times, clock)) {
    const Nanos outside = clock.between(times.t1, times.t4);
    if (outside <= longestFor(rtt, clock)) return outside <= timeout;
  }
  return rtt <= timeout;
}

Verdict judge(const ExchangeTimes& times, const TickClock& clock, bool stalled) {
  Verdict made;
  made.ack_lost = times.ack == AckState::kMissing;
  made.rtt = times.handled.mono - times.sent.mono;
  if (stalled) {
    made.anomaly = Anomaly::kStalled;
    return made;
  }
  if (isStepped(times, clock)) {
    made.anomaly = Anomaly::kClockStep;
    return made;
  }
  if (made.ack_lost) {
    made.has_rtt = true;
    return made;
  }
  if (times.ack == AckState::kNoTime || !timesFit(times, clock)) {
    made.has_rtt = true;
    made.anomaly = Anomaly::kNoTimestamp;
    return made;
  }
  const Nanos wire_and_responder = clock.between(times.t1, times.t4);
  if (wire_and_responder > longestFor(made.rtt, clock)) {
    made.anomaly = Anomaly::kClockStep;
    return made;
  }
  if (times.responder_ns < 0 || wire_and_responder < times.responder_ns) {
    made.anomaly = Anomaly::kNegative;
    return made;
  }
  made.has_rtt = made.has_split = true;
  made.network = wire_and_responder - times.responder_ns;
  made.responder = times.responder_ns;
  made.prober =
      std::max<Nanos>(0, made.rtt - wire_and_responder);  // may be negative within the margin
  return made;
}

void addReceived(const Verdict& verdict, PairWindow& window) {
  ++window.sent;
  ++window.received;
  if (verdict.ack_lost) ++window.ack_lost;
  if (verdict.anomaly) ++window.anomalous[static_cast<std::size_t>(*verdict.anomaly)];
  if (verdict.has_rtt) window.rtt.add(static_cast<std::uint64_t>(verdict.rtt));
  if (!verdict.has_split) return;
  window.addNetwork(verdict.network);
  window.responder.add(static_cast<std::uint64_t>(verdict.responder));
  window.prober.add(static_cast<std::uint64_t>(verdict.prober));
}

}  // namespace pingloom::probe
