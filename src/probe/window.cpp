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

void PairWindow::clear() {
  sent = received = lost = refused = unreachable = 0;
  ack_lost = duplicate = late = 0;
  anomalous.fill(0);
  for (Distribution* distribution : {&network, &responder, &prober, &rtt}) distribution->clear();
  jitter_sum = 0;
  jitter_count = 0;
  last_network = 0;
}

}  // namespace pingloom::probe
