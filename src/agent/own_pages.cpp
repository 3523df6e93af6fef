#include "agent/own_pages.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pingloom::agent {
namespace {

// Sets no value if nothing was measured.
void setTime(const Gauge& gauge, const Summary& summary, std::uint64_t Summary::*value) {
  gauge.set(summary.count == 0 ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(summary.*value) / 1e9);
}

}  // namespace

void OwnPages::restart() {
  pages_.reset();
  pairs_.clear();
  followed_.clear();
  shown_.clear();
  PagesOptions options;
  options.application = "pingloom-agent";
  options.socket = socket_.string();
  pages_ = std::make_unique<Pages>(options);
}

OwnPages::Pair OwnPages::makePair(const plan::Assignment& assignment,
                                  const IpAddress& destination) {
  const Labels labels = {{"probe", assignment.probe.name},
                         {"source", assignment.source.text()},
                         {"destination", destination.text()}};
  const auto statistic = [&](const char* value) {
    Labels with = labels;
    with.emplace_back("statistic", value);
    return with;
  };
  constexpr const char* kNetwork = "pingloom_ping_network_seconds";
  constexpr const char* kNetworkHelp = "Network time of the pair's last window.";
  constexpr const char* kRtt = "pingloom_ping_rtt_seconds";
  constexpr const char* kRttHelp = "Round trip time of the pair's last window.";
  Pair pair;
  pair.sent = pages_->counter({"pingloom_pings_sent_total", "Pings of the pair.", labels});
  pair.received =
      pages_->counter({"pingloom_pings_received_total", "Pings that were answered.", labels});
  pair.anomalous = pages_->counter(
      {"pingloom_pings_anomalous_total", "Exchanges whose times were of no use.", labels});
  pair.network_p50 = pages_->gauge({kNetwork, kNetworkHelp, statistic("p50")});
  pair.network_p99 = pages_->gauge({kNetwork, kNetworkHelp, statistic("p99")});
  pair.rtt_p50 = pages_->gauge({kRtt, kRttHelp, statistic("p50")});
  pair.rtt_p99 = pages_->gauge({kRtt, kRttHelp, statistic("p99")});
  return pair;
}

bool OwnPages::probed(const plan::Assignment& assignment, const IpAddress& destination) const {
  return work_.find(assignment.probe.name, assignment.source, destination) != nullptr;
}

void OwnPages::add(const probe::ClosedWindow& window) {
  if (window.path != 0) return;
  const plan::Assignment& assignment = *window.assignment;
  for (std::size_t i = 0; i < window.pairs.size(); ++i) {
    const probe::PairWindow& result = window.pairs[i];
    if (result.sent == 0) continue;
    const std::tuple key(assignment.probe.name, assignment.source, assignment.destinations[i]);
    auto found = pairs_.find(key);
    if (found == pairs_.end()) {
      if (pairs_.size() >= kMaxPairs || !probed(assignment, assignment.destinations[i])) continue;
      found = pairs_.emplace(key, makePair(assignment, assignment.destinations[i])).first;
    }
    const Pair& pair = found->second;
    pair.sent.add(result.sent);
    pair.received.add(result.received);
    pair.anomalous.add(
        std::accumulate(result.anomalous.begin(), result.anomalous.end(), std::uint64_t{0}));
    const Summary network = result.network.summary();
    const Summary rtt = result.rtt.summary();
    setTime(pair.network_p50, network, &Summary::p50);
    setTime(pair.network_p99, network, &Summary::p99);
    setTime(pair.rtt_p50, rtt, &Summary::p50);
    setTime(pair.rtt_p99, rtt, &Summary::p99);
  }
}

void OwnPages::follow(const MetricOptions& options, std::uint64_t value) {
  const std::string label = options.labels.empty() ? "" : options.labels.front().second;
  auto found = followed_.find({options.name, label});
  if (found == followed_.end()) {
    found = followed_.emplace(std::pair(options.name, label), pages_->counter(options)).first;
  }
  found->second.set(value);
}

void OwnPages::show(const std::string& name, const char* help, std::size_t value) {
  auto found = shown_.find(name);
  if (found == shown_.end()) {
    found = shown_.emplace(name, pages_->gauge({name, help, {}})).first;
  }
  found->second.set(static_cast<double>(value));
}

void OwnPages::set(const Figures& figures) {
  for (const TransportFigures& transport : figures.transports) {
    const Labels labels = {{"protocol", std::string(transport.protocol)}};
    follow({"pingloom_agent_pings_sent_total", "Pings sent.", labels}, transport.pings_sent);
    follow({"pingloom_agent_pings_skipped_total",
            "Pings not sent because a whole interval was missed or a limit was reached.", labels},
           transport.pings_skipped);
    follow({"pingloom_agent_pings_answered_total", "Pings of other agents answered.", labels},
           transport.pings_answered);
    follow({"pingloom_agent_stalls_total",
            "Times that this process did not run when it should have.", labels},
           transport.stalls);
  }
  follow({"pingloom_agent_windows_closed_total", "Windows with results."}, figures.windows_closed);
  follow({"pingloom_agent_spool_dropped_total", "Batches dropped because the spool was full."},
         figures.spool.dropped);
  if (!figures.pages) return;
  show("pingloom_agent_pages", "Metric pages that applications use.", figures.pages->pages);
  show("pingloom_agent_pages_owners", "Connections of registered applications.",
       figures.pages->owners);
  show("pingloom_agent_pages_readers", "Collectors that may read the pages.",
       figures.pages->readers);
}

}  // namespace pingloom::agent
