#include "probe/tcp/connect_verdict.h"

namespace pingloom::probe::tcp {
namespace {

void countAnomaly(PairWindow& pair, Anomaly reason) {
  ++pair.anomalous[static_cast<std::size_t>(reason)];
}

void countTimes(PairWindow& pair, const ConnectState& state, Nanos elapsed) {
  if (state.retransmitted || state.kernel_rtt == 0) {
    // The kernel's measurement of a repeated SYN is coarse or missing.
    countAnomaly(pair, Anomaly::kNoTimestamp);
  } else if (state.kernel_rtt > elapsed + kMicrosecond) {  // the kernel's unit is a microsecond
    countAnomaly(pair, Anomaly::kNegative);
  } else {
    pair.addNetwork(state.kernel_rtt);
  }
  pair.rtt.add(static_cast<std::uint64_t>(elapsed));
}

ConnectVerdict verdictOfConnected(const ConnectState& state, Nanos elapsed, Nanos timeout,
                                  bool stalled) {
  if (elapsed <= timeout) return stalled ? ConnectVerdict::kStalled : ConnectVerdict::kReceived;
  // The answer was noticed after the timeout, but it may have come before.
  const Nanos answered =
      state.retransmitted || state.kernel_rtt == 0 ? elapsed - state.since_reply : state.kernel_rtt;
  return answered <= timeout ? ConnectVerdict::kStalled : ConnectVerdict::kLostLate;
}

}  // namespace

ConnectVerdict verdictOf(const ConnectState& state, Nanos elapsed, Nanos timeout, bool stalled) {
  switch (state.stage) {
    case ConnectStage::kConnected:
      return verdictOfConnected(state, elapsed, timeout, stalled);
    case ConnectStage::kRefused:
      return ConnectVerdict::kRefused;
    case ConnectStage::kUnreachable:
    case ConnectStage::kExhausted:
      return ConnectVerdict::kUnreachable;
    case ConnectStage::kTimedOut:
      return ConnectVerdict::kLost;
    case ConnectStage::kConnecting:
      break;
  }
  if (elapsed < timeout) return ConnectVerdict::kNone;
  return stalled ? ConnectVerdict::kUndecided : ConnectVerdict::kLost;
}

void countConnect(PairWindow& pair, ConnectVerdict verdict, const ConnectState& state,
                  Nanos elapsed) {
  switch (verdict) {
    case ConnectVerdict::kReceived:
      ++pair.received;
      countTimes(pair, state, elapsed);
      break;
    case ConnectVerdict::kStalled:
      ++pair.received;
      countAnomaly(pair, Anomaly::kStalled);
      break;
    case ConnectVerdict::kLostLate:
      ++pair.lost;
      ++pair.late;
      break;
    case ConnectVerdict::kLost:
      ++pair.lost;
      break;
    case ConnectVerdict::kRefused:
      ++pair.refused;
      break;
    case ConnectVerdict::kUnreachable:
      ++pair.unreachable;
      break;
    case ConnectVerdict::kNone:
    case ConnectVerdict::kUndecided:
      break;
  }
}

}  // namespace pingloom::probe::tcp
