// Flows over a leaf-spine fabric, with losses that are computed instead of drawn, for tests.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "localise/localise.h"

namespace pingloom::localise {

// Hosts are 0 to 7, two on each of the leafs 10 to 13, which four spines 20 to 23 connect.
class LeafSpine {
 public:
  static constexpr NodeId kHosts = 8;
  static constexpr std::uint32_t kLabels = 8;
  static constexpr std::uint32_t kSent = 100;
  using Path = std::vector<NodeId>;

  static NodeId leafOf(NodeId host) { return 10 + host / 2; }
  static Path pathOf(NodeId from, NodeId to, std::uint32_t label) {
    if (leafOf(from) == leafOf(to)) return {from, leafOf(from), to};
    const NodeId spine = 20 + (from * 7 + to * 3 + label * 5 + label / 4) % 4;
    return {from, leafOf(from), spine, leafOf(to), to};
  }

  // Loss of one flow over a path, from 0 to 1.
  using Loss = std::function<double(const Path& path, std::uint32_t flow)>;

  // Observes each direction of all flows; `recorded` says which path is on record for a flow.
  explicit LeafSpine(const Loss& loss,
                     const std::function<Path(Path path, std::uint32_t flow)>& recorded = {}) {
    each([&](const Path& out, const Path& back, std::uint32_t flow) {
      for (const Path& path : {out, back}) {
        const auto id = fabric.addPath(recorded ? recorded(path, flow) : path);
        evidence.push_back({flow, *id, kSent, lostOf(loss(path, flow))});
      }
    });
  }

  // Observes only round trips, whose both ways cross the same switches.
  static LeafSpine roundTrips(const Loss& loss) {
    LeafSpine made;
    each([&](const Path& out, const Path&, std::uint32_t flow) {
      const Path back(out.rbegin(), out.rend());
      const double all = 1 - (1 - loss(out, flow)) * (1 - loss(back, flow));
      made.evidence.push_back({flow, *made.fabric.addRoundTrip(out, back), kSent, lostOf(all)});
    });
    return made;
  }

  static bool crosses(const Path& path, NodeId from, NodeId to) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path[i - 1] == from && path[i] == to) return true;
    }
    return false;
  }

  Fabric fabric;
  std::vector<Observation> evidence;

 private:
  LeafSpine() = default;

  static std::uint32_t lostOf(double loss) {
    return static_cast<std::uint32_t>(std::lround(kSent * loss));
  }
  template <typename F>
  static void each(const F& visit) {
    std::uint32_t flow = 0;
    for (NodeId from = 0; from < kHosts; ++from) {
      for (NodeId to = 0; to < kHosts; ++to) {
        if (from == to) continue;
        for (std::uint32_t label = 0; label < kLabels; ++label, ++flow) {
          visit(pathOf(from, to, label), pathOf(to, from, label), flow);
        }
      }
    }
  }
};

}  // namespace pingloom::localise
