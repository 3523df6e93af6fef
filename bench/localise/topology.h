// Simulated fabrics with equal-cost paths, and the flows of a probing plan over them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "localise/fabric.h"

namespace pingloom::bench {

using localise::NodeId;
using Random = std::mt19937_64;

struct FabricShape {
  std::uint32_t k = 8;  // of a fat tree of three tiers, or 0 for a leaf-spine
  std::uint32_t leafs = 32;
  std::uint32_t spines = 16;
  std::uint32_t hosts_per_leaf = 32;
};

// Nodes are numbered: hosts, then ToRs (leafs), aggregation switches, cores (spines).
class Topology {
 public:
  explicit Topology(const FabricShape& shape);

  std::uint32_t hosts() const { return hosts_; }
  std::uint32_t hostsPerTor() const { return per_tor_; }
  std::uint32_t nodes() const { return nodes_; }
  NodeId torOf(NodeId host) const { return hosts_ + host / per_tor_; }
  bool isHost(NodeId node) const { return node < hosts_; }
  NodeId firstCore() const { return first_core_; }
  // A path of one direction; the switches choose among equal-cost paths at random.
  std::vector<NodeId> path(NodeId from, NodeId to, Random& random) const;

 private:
  std::uint32_t k_;
  std::uint32_t hosts_;
  std::uint32_t per_tor_;
  NodeId first_aggregation_;
  NodeId first_core_;
  std::uint32_t nodes_;
};

struct Flow {
  NodeId from = 0;
  NodeId to = 0;
  std::vector<NodeId> forward;
  std::vector<NodeId> back;
};

// Each host probes up to eight hosts of its ToR, and `destinations` others with `labels` flows
// each.
std::vector<Flow> makePlan(const Topology& topology, std::uint32_t destinations,
                           std::uint32_t labels, Random& random);

std::uint32_t below(Random& random, std::uint32_t bound);
double uniform(Random& random);

}  // namespace pingloom::bench
