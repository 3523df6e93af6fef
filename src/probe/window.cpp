#include "probe/window.h"

namespace pingloom::probe {

void PairWindow::addNetwork(Nanos network_ns) {
  const auto value = static_cast<std::uint64_t>(network_ns);
  if (network.count() > 0) {
    jitter_sum += value > last_network ? value - last_network : last_network - value;
    ++jitter_count;
  }
  last_network = value;
  network.add(value);
}

void PairWindow::addCounts(const PairWindow& other) {
  sent += other.sent;
  received += other.received;
  lost += other.lost;
  refused += other.refused;
  unreachable += other.unreachable;
  ack_lost += other.ack_lost;
  duplicate += other.duplicate;
  late += other.late;
  misfit += other.misfit;
  skipped += other.skipped;
  for (std::size_t i = 0; i < kAnomalies; ++i) anomalous[i] += other.anomalous[i];
}

void PairWindow::addTimes(const PairWindow& other) {
  network.merge(other.network);
  responder.merge(other.responder);
  prober.merge(other.prober);
  rtt.merge(other.rtt);
  jitter_sum += other.jitter_sum;
  jitter_count += other.jitter_count;
}

void PairWindow::clear() {
  sent = received = lost = refused = unreachable = 0;
  ack_lost = duplicate = late = misfit = skipped = 0;
  inbound = kInboundUnknown;
  anomalous.fill(0);
  for (Distribution* distribution : {&network, &responder, &prober, &rtt}) distribution->clear();
  jitter_sum = 0;
  jitter_count = 0;
  last_network = 0;
}

}  // namespace pingloom::probe
