#include "wire/burst_codec.h"

namespace pingloom::wire {
namespace {

constexpr std::uint64_t kMaxTime = kMinute;

bool tooLong(const std::optional<std::uint64_t>& time) { return time && *time > kMaxTime; }

}  // namespace

void encode(const pingloom::BurstPing& ping, BurstPing& out) {
  out.set_sequence(ping.sequence);
  out.set_fate(static_cast<std::uint32_t>(ping.fate));
  if (ping.anomaly) out.set_anomaly(1 + static_cast<std::uint32_t>(*ping.anomaly));
  out.set_ack_lost(ping.ack_lost);
  out.set_late(ping.late);
  if (ping.network) out.set_network_ns(*ping.network);
  if (ping.responder) out.set_responder_ns(*ping.responder);
  if (ping.prober) out.set_prober_ns(*ping.prober);
  if (ping.rtt) out.set_rtt_ns(*ping.rtt);
}

Result<pingloom::BurstPing> decode(const BurstPing& in) {
  if (in.sequence() == 0 || in.sequence() > kMaxBurstPings) {
    return makeError("ping", "sequence out of range");
  }
  if (in.fate() == 0 || in.fate() > kPingFateNames.size() || in.anomaly() > kAnomalies) {
    return makeError("ping", "unknown fate or anomaly");
  }
  pingloom::BurstPing made;
  made.sequence = in.sequence();
  made.fate = static_cast<PingFate>(in.fate());
  if (in.anomaly() != 0) made.anomaly = static_cast<Anomaly>(in.anomaly() - 1);
  made.ack_lost = in.ack_lost();
  made.late = in.late();
  if (in.has_network_ns()) made.network = in.network_ns();
  if (in.has_responder_ns()) made.responder = in.responder_ns();
  if (in.has_prober_ns()) made.prober = in.prober_ns();
  if (in.has_rtt_ns()) made.rtt = in.rtt_ns();
  if (tooLong(made.network) || tooLong(made.responder) || tooLong(made.prober) ||
      tooLong(made.rtt)) {
    return makeError("ping", "time out of range");
  }
  const bool measured = made.network || made.responder || made.prober || made.rtt || made.anomaly;
  if (measured && made.fate != PingFate::kReceived) {
    return makeError("ping", "times of a ping that was not answered");
  }
  return made;
}

}  // namespace pingloom::wire
