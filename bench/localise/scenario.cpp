#include "scenario.h"

#include <algorithm>
#include <cmath>

namespace pingloom::bench {

using localise::Kind;

const std::vector<std::string>& faultKinds() {
  static const std::vector<std::string> kinds = {"link", "cable",  "switch",   "blackhole",
                                                 "host", "hostup", "hostdown", "none"};
  return kinds;
}

namespace {

constexpr double kBackground = 1e-5;

bool crosses(const std::vector<NodeId>& path, const Key& key) {
  const auto& [kind, a, b] = key;
  if (kind == Kind::kHost) return path.front() == a || path.back() == a;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (kind == Kind::kSwitch && path[i] == a) return true;
    if (kind == Kind::kSwitch || i + 1 == path.size()) continue;
    if (path[i] == a && path[i + 1] == b) return true;
    if (kind == Kind::kCable && path[i] == b && path[i + 1] == a) return true;
  }
  return false;
}

double join(double loss, double rate) { return 1 - (1 - loss) * (1 - rate); }

}  // namespace

Key keyOf(const localise::Component& component) {
  return {component.kind, component.from, component.to};
}

World::World(const Setup& setup, std::uint64_t plan_seed)
    : setup_(setup), topology_(setup.shape), random_(plan_seed) {
  flows_ = makePlan(topology_, setup.destinations, setup.labels, random_);
  recordInto(truth_, std::vector<bool>(topology_.nodes(), false));
  for (const auto& component : truth_.components()) {
    if (component.kind == Kind::kLink && !component.at_host) {
      fabric_links_.push_back(keyOf(component));
    }
  }
  std::sort(fabric_links_.begin(), fabric_links_.end());
}

void World::draw(const std::string& kind, std::uint64_t seed) {
  std::seed_seq mixed{seed, std::uint64_t{kind.size()}, static_cast<std::uint64_t>(kind.back())};
  random_.seed(mixed);
  faults_.clear();
  const std::vector<std::string> several = {"link", "cable", "switch", "blackhole", "host"};
  for (std::uint32_t i = 0; i < setup_.culprits; ++i) {
    drawFault(setup_.culprits > 1 && kind != "none" ? several[below(random_, 5)] : kind);
  }
  setLoss();
  record();
  for (std::size_t flow = 0; flow < flows_.size(); ++flow) probe(flow, setup_.probes);
}

void World::drawFault(const std::string& kind) {
  constexpr std::array kFaultRates = {1.0, 0.3, 0.1, 0.03, 0.01, 0.005};
  constexpr std::array kHoles = {0.05, 0.1, 0.25};
  const double drawn = kFaultRates[below(random_, kFaultRates.size())];
  const double rate = setup_.rate > 0 ? setup_.rate : drawn;
  const Key link = fabric_links_[below(random_, static_cast<std::uint32_t>(fabric_links_.size()))];
  const NodeId host = below(random_, topology_.hosts());
  const NodeId tor = topology_.torOf(host);
  if (kind == "link") faults_.push_back({link, rate});
  if (kind == "cable") {
    const auto [a, b] = std::minmax(std::get<1>(link), std::get<2>(link));
    faults_.push_back({{Kind::kCable, a, b}, rate});
  }
  if (kind == "switch") {
    const NodeId node = topology_.hosts() + below(random_, topology_.nodes() - topology_.hosts());
    faults_.push_back({{Kind::kSwitch, node, node}, rate});
  }
  if (kind == "blackhole") faults_.push_back({link, 1, kHoles[below(random_, kHoles.size())]});
  if (kind == "host") faults_.push_back({{Kind::kHost, host, host}, rate});
  if (kind == "hostup") faults_.push_back({{Kind::kLink, host, tor}, rate});
  if (kind == "hostdown") faults_.push_back({{Kind::kLink, tor, host}, rate});
}

void World::setLoss() {
  forward_loss_.assign(flows_.size(), kBackground);
  back_loss_.assign(flows_.size(), kBackground);
  noisy_.assign(topology_.hosts(), false);
  std::vector<double> noise(topology_.hosts(), 0.0);
  for (NodeId host = 0; host < topology_.hosts(); ++host) {
    if (uniform(random_) >= setup_.noisy_hosts) continue;
    noisy_[host] = true;
    noise[host] = std::pow(10.0, -3 + 0.7 * uniform(random_));
  }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Flow& flow = flows_[i];
    for (const Fault& fault : faults_) {
      const bool out = uniform(random_) < fault.share;
      const bool in = uniform(random_) < fault.share;
      if (out && crosses(flow.forward, fault.key)) {
        forward_loss_[i] = join(forward_loss_[i], fault.rate);
      }
      if (in && crosses(flow.back, fault.key)) back_loss_[i] = join(back_loss_[i], fault.rate);
    }
    forward_loss_[i] = join(forward_loss_[i], noise[flow.to]);
    back_loss_[i] = join(back_loss_[i], noise[flow.from]);
  }
}

void World::record() {
  window_.evidence.clear();
  window_.fabric = &truth_;
  if (setup_.stale <= 0 && setup_.anonymous <= 0) return;
  std::vector<bool> anonymous(topology_.nodes(), false);
  for (NodeId node = topology_.firstCore(); node < topology_.nodes(); ++node) {
    anonymous[node] = uniform(random_) < setup_.anonymous;
  }
  recorded_ = localise::Fabric();
  recordInto(recorded_, anonymous);
  window_.fabric = &recorded_;
}

void World::recordInto(localise::Fabric& fabric, const std::vector<bool>& anonymous) {
  const auto seen = [&](std::vector<NodeId> path) {
    for (NodeId& node : path) {
      if (anonymous[node]) node = localise::kUnknownNode;
    }
    return path;
  };
  for (const Flow& flow : flows_) {
    const bool old = &fabric != &truth_ && uniform(random_) < setup_.stale;
    const auto out = seen(old ? topology_.path(flow.from, flow.to, random_) : flow.forward);
    const auto in = seen(old ? topology_.path(flow.to, flow.from, random_) : flow.back);
    if (setup_.one_way) {
      (void)fabric.addPath(out);
      (void)fabric.addPath(in);
    } else {
      (void)fabric.addRoundTrip(out, in);
    }
  }
}

void World::probe(std::size_t flow, std::uint32_t probes) {
  const auto lost = [&](std::uint32_t sent, double loss) {
    return std::binomial_distribution<std::uint32_t>(sent, loss)(random_);
  };
  const std::uint32_t out = lost(probes, forward_loss_[flow]);
  const std::uint32_t in = lost(probes - out, back_loss_[flow]);
  const auto id = static_cast<std::uint32_t>(flow);
  auto& evidence = window_.evidence;
  const std::size_t row = setup_.one_way ? 2 * flow : flow;
  if (evidence.size() <= row) {
    evidence.resize(row + (setup_.one_way ? 2 : 1));
    for (std::size_t i = row; i < evidence.size(); ++i) {
      evidence[i] = {id, static_cast<localise::PathId>(i), 0, 0};
    }
  }
  evidence[row].sent += probes;
  evidence[row].lost += out;
  auto& back = setup_.one_way ? evidence[row + 1] : evidence[row];
  if (setup_.one_way) back.sent += probes - out;
  back.lost += in;
}

void World::burst(const std::vector<bool>& suspected, std::uint32_t probes) {
  const auto hit = [&](localise::PathId path) {
    const auto on = window_.fabric->componentsOf(path);
    return std::any_of(on.begin(), on.end(), [&](auto component) { return suspected[component]; });
  };
  for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
    const auto path = static_cast<localise::PathId>(setup_.one_way ? 2 * flow : flow);
    if (hit(path) || (setup_.one_way && hit(path + 1))) probe(flow, probes);
  }
}

}  // namespace pingloom::bench
