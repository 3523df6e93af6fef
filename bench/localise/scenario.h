// Faults in a simulated fabric, what the probes of one window see of them, and what is recorded of
// the paths.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "localise/localise.h"
#include "topology.h"

namespace pingloom::bench {

// A component by what it is, because fabrics of different records number components differently.
using Key = std::tuple<localise::Kind, NodeId, NodeId>;
Key keyOf(const localise::Component& component);

struct Setup {
  std::string name = {};
  FabricShape shape = {};
  std::uint32_t destinations = 16;
  std::uint32_t labels = 4;
  std::uint32_t probes = 10;
  std::uint32_t culprits = 1;
  double rate = 0;  // of every fault, or 0 for one of six rates at random
  double stale = 0;
  double anonymous = 0;
  double noisy_hosts = 0.02;
  bool one_way = true;
  bool bursts = false;  // confirming bursts on the flows of suspected components
};

struct Fault {
  Key key;
  double rate = 0;
  double share = 1;
};

// The window as localisers see it.
struct Window {
  const localise::Fabric* fabric = nullptr;
  std::vector<localise::Observation> evidence;
};

// Not copied: what it hands out points into it.
class World {
 public:
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  World(const Setup& setup, std::uint64_t plan_seed);

  // Draws the faults of one kind, the losses and the records of one trial.
  void draw(const std::string& kind, std::uint64_t seed);

  const Topology& topology() const { return topology_; }
  const std::vector<Fault>& faults() const { return faults_; }
  const std::vector<bool>& noisy() const { return noisy_; }
  const Window& window() const { return window_; }
  std::size_t flows() const { return flows_.size(); }
  const localise::Fabric& truth() const { return truth_; }
  // Sends more probes over every flow that crosses one of the components.
  void burst(const std::vector<bool>& suspected, std::uint32_t probes);

 private:
  void drawFault(const std::string& kind);
  void setLoss();
  void record();
  void recordInto(localise::Fabric& fabric, const std::vector<bool>& anonymous);
  void probe(std::size_t flow, std::uint32_t probes);

  Setup setup_;
  Topology topology_;
  std::vector<Flow> flows_;
  localise::Fabric truth_;
  localise::Fabric recorded_;
  std::vector<Key> fabric_links_;
  Random random_;
  std::vector<Fault> faults_;
  std::vector<bool> noisy_;
  std::vector<double> forward_loss_;
  std::vector<double> back_loss_;
  Window window_;
};

const std::vector<std::string>& faultKinds();

}  // namespace pingloom::bench
