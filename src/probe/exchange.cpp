#include "probe/exchange.h"

#include <algorithm>
#include <cstdlib>

namespace pingloom::probe {

bool clockStepped(const ExchangeTimes& times) {
  const Nanos by_utc = times.handled.utc - times.sent.utc;
  const Nanos by_mono = times.handled.mono - times.sent.mono;
  return std::abs(by_utc - by_mono) > kClockMargin;
}

bool kernelTimesFit(const ExchangeTimes& times) {
  return times.t1_utc != 0 && times.t4_utc != 0 && times.sent.utc <= times.t1_utc &&
         times.t1_utc <= times.t4_utc;
}

bool inTime(const ExchangeTimes& times, Nanos timeout) {
  if (kernelTimesFit(times) && !clockStepped(times)) {
    return times.t4_utc - times.t1_utc <= timeout;
  }
  return times.handled.mono - times.sent.mono <= timeout;
}

Verdict judge(const ExchangeTimes& times, bool stalled) {
  Verdict made;
  made.ack_lost = times.ack == AckState::kMissing;
  made.rtt = times.handled.mono - times.sent.mono;
  if (stalled) {
    made.anomaly = Anomaly::kStalled;
    return made;
  }
  if (clockStepped(times)) {
    made.anomaly = Anomaly::kClockStep;
    return made;
  }
  if (made.ack_lost) {
    made.has_rtt = true;
    return made;
  }
  if (times.ack == AckState::kNoTime || !kernelTimesFit(times)) {
    made.has_rtt = true;
    made.anomaly = Anomaly::kNoTimestamp;
    return made;
  }
  const Nanos wire_and_responder = times.t4_utc - times.t1_utc;
  if (wire_and_responder > made.rtt + kClockMargin) {
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
  made.prober = std::max<Nanos>(0, made.rtt - wire_and_responder);  // within the margin
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
