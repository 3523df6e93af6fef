#include "baselines.h"

#include <algorithm>
#include <cmath>

namespace pingloom::bench {
namespace {

using localise::Kind;
using localise::Observation;

constexpr std::size_t kMost = 50;

bool isLink(const Window& window, localise::ComponentId id) {
  return window.fabric->components()[id].kind == Kind::kLink;
}

std::vector<localise::ComponentId> linksOf(const Window& window, const Observation& it) {
  std::vector<localise::ComponentId> links;
  for (const auto id : window.fabric->componentsOf(it.path)) {
    if (isLink(window, id)) links.push_back(id);
  }
  return links;
}

std::vector<const Observation*> lossyOf(const Window& window) {
  std::vector<const Observation*> lossy;
  for (const Observation& it : window.evidence) {
    if (it.lost > 0) lossy.push_back(&it);
  }
  return lossy;
}

localise::ComponentId highest(const std::vector<double>& values) {
  return static_cast<localise::ComponentId>(std::max_element(values.begin(), values.end()) -
                                            values.begin());
}

void takeOut(const Window& window, std::vector<const Observation*>& lossy,
             localise::ComponentId id) {
  std::erase_if(lossy, [&](const Observation* it) { return window.fabric->crosses(it->path, id); });
}

}  // namespace

Blamed votes007(const Window& window) {
  Blamed blamed;
  auto lossy = lossyOf(window);
  while (!lossy.empty() && blamed.size() < kMost) {
    std::vector<double> votes(window.fabric->components().size(), 0.0);
    double all = 0;
    for (const Observation* it : lossy) {
      const auto links = linksOf(window, *it);
      for (const auto id : links) votes[id] += 1.0 / static_cast<double>(links.size());
      all += links.empty() ? 0 : 1;
    }
    const auto top = highest(votes);
    if (votes[top] <= 0 || votes[top] < 0.01 * all) break;
    blamed.push_back(top);
    takeOut(window, lossy, top);
  }
  return blamed;
}

Blamed setCover(const Window& window) {
  const std::size_t size = window.fabric->components().size();
  std::vector<double> all(size, 0.0);
  std::vector<double> bad(size, 0.0);
  for (const Observation& it : window.evidence) {
    for (const auto id : linksOf(window, it)) {
      all[id] += 1;
      bad[id] += it.lost > 0 ? 1 : 0;
    }
  }
  Blamed blamed;
  auto lossy = lossyOf(window);
  while (!lossy.empty() && blamed.size() < kMost) {
    std::vector<double> covered(size, 0.0);
    for (const Observation* it : lossy) {
      for (const auto id : linksOf(window, *it)) covered[id] += 1;
    }
    for (std::size_t id = 0; id < size; ++id) {
      if (covered[id] < 5 || bad[id] < 0.02 * all[id]) covered[id] = 0;
    }
    const auto top = highest(covered);
    if (covered[top] <= 0) break;
    blamed.push_back(top);
    takeOut(window, lossy, top);
  }
  return blamed;
}

Blamed netBouncer(const Window& window) {
  constexpr double kLambda = 1;
  const std::size_t size = window.fabric->components().size();
  std::vector<std::vector<std::uint32_t>> rows(size);
  std::vector<double> lost(size, 0.0);
  std::vector<double> good(window.evidence.size(), 1.0);
  for (std::uint32_t row = 0; row < window.evidence.size(); ++row) {
    const Observation& it = window.evidence[row];
    if (it.sent == 0) continue;
    good[row] = 1 - static_cast<double>(it.lost) / it.sent;
    for (const auto id : linksOf(window, it)) {
      rows[id].push_back(row);
      lost[id] += it.lost;
    }
  }
  std::vector<double> success(size, 1.0);
  std::vector<double> log_path(window.evidence.size(), 0.0);
  for (std::size_t id = 0; id < size; ++id) {
    if (lost[id] <= 0) continue;
    double sum = 0;
    for (const auto row : rows[id]) sum += good[row];
    success[id] = std::max(1e-3, sum / static_cast<double>(rows[id].size()));
    for (const auto row : rows[id]) log_path[row] += std::log(success[id]);
  }
  for (int pass = 0; pass < 30; ++pass) {
    double change = 0;
    for (std::size_t id = 0; id < size; ++id) {
      if (lost[id] <= 0) continue;
      double squares = -kLambda;
      double products = -kLambda / 2;
      for (const auto row : rows[id]) {
        const double rest = std::exp(log_path[row] - std::log(success[id]));
        squares += rest * rest;
        products += rest * good[row];
      }
      const double made = squares > 0 ? std::clamp(products / squares, 1e-3, 1.0)
                                      : (products > squares / 2 ? 1.0 : 1e-3);
      change = std::max(change, std::abs(made - success[id]));
      const double step = std::log(made) - std::log(success[id]);
      for (const auto row : rows[id]) log_path[row] += step;
      success[id] = made;
    }
    if (change < 1e-6) break;
  }
  Blamed blamed;
  for (std::size_t id = 0; id < size; ++id) {
    if (1 - success[id] > 0.02) blamed.push_back(static_cast<localise::ComponentId>(id));
  }
  return blamed;
}

Blamed flock(const Window& window) {
  constexpr double kGood = 2e-4;
  constexpr double kBad = 3e-3;
  const double loses = std::log(kBad / kGood);
  const double passes = std::log((1 - kBad) / (1 - kGood));
  std::vector<bool> left(window.evidence.size(), true);
  Blamed blamed;
  while (blamed.size() < 20) {
    std::vector<double> score(window.fabric->components().size(), 0.0);
    for (std::size_t i = 0; i < window.evidence.size(); ++i) {
      if (!left[i]) continue;
      const Observation& it = window.evidence[i];
      const double gain = it.lost * loses + (it.sent - it.lost) * passes;
      for (const auto id : window.fabric->componentsOf(it.path)) score[id] += gain;
    }
    const auto top = highest(score);
    if (score[top] <= 12) break;
    blamed.push_back(top);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] && window.fabric->crosses(window.evidence[i].path, top)) left[i] = false;
    }
  }
  return blamed;
}

Blamed votesRPingmesh(const Window& window, const Topology& topology) {
  const auto& components = window.fabric->components();
  std::vector<double> sent(components.size(), 0.0);
  std::vector<double> lost(components.size(), 0.0);
  const auto inside = [&](const Observation& it) {
    const auto& ends = window.fabric->ends(it.path);
    return topology.torOf(ends.source) == topology.torOf(ends.destination);
  };
  for (const Observation& it : window.evidence) {
    if (!inside(it)) continue;
    for (const auto id : window.fabric->componentsOf(it.path)) {
      sent[id] += it.sent;
      lost[id] += it.lost;
    }
  }
  std::map<NodeId, Blamed> bad_of_tor;
  std::map<NodeId, localise::ComponentId> tors;
  for (localise::ComponentId id = 0; id < components.size(); ++id) {
    if (components[id].kind == Kind::kSwitch) tors[components[id].from] = id;
    if (components[id].kind != Kind::kHost || lost[id] <= 0.1 * sent[id]) continue;
    bad_of_tor[topology.torOf(components[id].from)].push_back(id);
  }
  Blamed blamed;
  for (auto& [tor, bad] : bad_of_tor) {
    // A bad host makes its few neighbours look bad, so it has to stand out of them.
    std::sort(bad.begin(), bad.end(), [&](auto a, auto b) { return lost[a] > lost[b]; });
    double rest = 0;
    for (std::size_t i = 1; i < bad.size(); ++i) rest += lost[bad[i]];
    const double mean = bad.size() > 1 ? rest / static_cast<double>(bad.size() - 1) : 0;
    if (bad.size() * 2 <= topology.hostsPerTor()) {
      blamed.insert(blamed.end(), bad.begin(), bad.end());
    } else {
      const auto as_switch = tors.find(tor);  // not there if it is anonymous
      const bool one = lost[bad.front()] > 1.6 * mean || as_switch == tors.end();
      blamed.push_back(one ? bad.front() : as_switch->second);
    }
  }
  std::vector<double> votes(components.size(), 0.0);
  for (const Observation& it : window.evidence) {
    if (it.lost == 0 || inside(it)) continue;
    const bool gone = std::any_of(blamed.begin(), blamed.end(),
                                  [&](auto id) { return window.fabric->crosses(it.path, id); });
    if (gone) continue;
    for (const auto id : linksOf(window, it)) votes[id] += components[id].at_host ? 0 : it.lost;
  }
  const auto top = highest(votes);
  if (votes[top] >= 3) blamed.push_back(top);
  return blamed;
}

}  // namespace pingloom::bench
