#include "topology.h"

#include <algorithm>
#include <set>

namespace pingloom::bench {

std::uint32_t below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

double uniform(Random& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

Topology::Topology(const FabricShape& shape) : k_(shape.k) {
  const std::uint32_t half = k_ / 2;
  const std::uint32_t tors = k_ > 0 ? k_ * half : shape.leafs;
  per_tor_ = k_ > 0 ? half : shape.hosts_per_leaf;
  hosts_ = tors * per_tor_;
  first_aggregation_ = hosts_ + tors;
  first_core_ = first_aggregation_ + (k_ > 0 ? tors : 0);
  nodes_ = first_core_ + (k_ > 0 ? half * half : shape.spines);
}

std::vector<NodeId> Topology::path(NodeId from, NodeId to, Random& random) const {
  const NodeId first = torOf(from);
  const NodeId last = torOf(to);
  if (first == last) return {from, first, to};
  if (k_ == 0) {
    return {from, first, first_core_ + below(random, nodes_ - first_core_), last, to};
  }
  const std::uint32_t half = k_ / 2;
  const std::uint32_t pod = (first - hosts_) / half;
  const std::uint32_t other = (last - hosts_) / half;
  const std::uint32_t column = below(random, half);
  const NodeId up = first_aggregation_ + pod * half + column;
  if (pod == other) return {from, first, up, last, to};
  const NodeId core = first_core_ + column * half + below(random, half);
  return {from, first, up, core, first_aggregation_ + other * half + column, last, to};
}

std::vector<Flow> makePlan(const Topology& topology, std::uint32_t destinations,
                           std::uint32_t labels, Random& random) {
  std::vector<Flow> flows;
  const auto add = [&](NodeId from, NodeId to) {
    flows.push_back({from, to, topology.path(from, to, random), topology.path(to, from, random)});
  };
  const std::uint32_t per_tor = topology.hostsPerTor();
  for (NodeId from = 0; from < topology.hosts(); ++from) {
    const NodeId base = from / per_tor * per_tor;
    for (std::uint32_t i = 1; i <= std::min(8U, per_tor - 1); ++i) {
      add(from, base + (from - base + i) % per_tor);
    }
    std::set<NodeId> seen;
    while (seen.size() < destinations) {
      const NodeId to = below(random, topology.hosts());
      if (topology.torOf(to) == topology.torOf(from) || !seen.insert(to).second) continue;
      for (std::uint32_t label = 0; label < labels; ++label) add(from, to);
    }
  }
  return flows;
}

}  // namespace pingloom::bench
