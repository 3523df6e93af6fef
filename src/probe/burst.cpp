#include "probe/burst.h"

namespace pingloom::probe {
namespace {

// Keeps its windows open until the burst is over; a sum of a few of these does not overflow.
constexpr Nanos kEndless = INT64_MAX / 4;

std::optional<std::uint64_t> only(const Distribution& samples) {
  if (samples.count() == 0) return std::nullopt;
  return samples.min();
}

std::optional<PingFate> fateOf(const PairWindow& counts) {
  if (counts.received > 0) return PingFate::kReceived;
  if (counts.lost > 0) return PingFate::kLost;
  if (counts.refused > 0) return PingFate::kRefused;
  if (counts.unreachable > 0) return PingFate::kUnreachable;
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Burst> makeBurst(const plan::Assignment& of, const IpAddress& destination,
                                       std::uint32_t path, std::uint32_t count, Nanos gap) {
  plan::Assignment assignment{of.probe, of.source, plan::AddressList(count, destination)};
  assignment.probe.interval = gap * count;
  assignment.probe.window = kEndless;
  auto made = std::make_shared<Burst>();
  made->assignment = std::make_shared<const plan::Assignment>(std::move(assignment));
  made->path = path;
  made->gap = gap;
  return made;
}

std::optional<BurstPing> verdictOf(const PairWindow& counts, std::uint32_t sequence) {
  const auto fate = fateOf(counts);
  if (!fate) return std::nullopt;
  BurstPing made;
  made.sequence = sequence;
  made.fate = *fate;
  for (std::size_t i = 0; i < kAnomalies; ++i) {
    if (counts.anomalous[i] > 0) made.anomaly = static_cast<Anomaly>(i);
  }
  made.ack_lost = counts.ack_lost > 0;
  made.late = counts.late > 0;
  made.network = only(counts.network);
  made.responder = only(counts.responder);
  made.prober = only(counts.prober);
  made.rtt = only(counts.rtt);
  return made;
}

}  // namespace pingloom::probe
