// Which links of the fabric the flows of the probes that sample cross, as the traced paths show it
// (docs/paths.md). Immutable once made; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "plan/link_cover.h"

namespace pingloom::controller {

struct FabricCover {
  struct Link {
    std::string from;  // names of switches
    std::string to;
    std::uint32_t flows = 0;
    plan::CoverState state = plan::CoverState::kCovered;
  };
  struct Probe {
    std::string name;
    std::uint32_t cover = 0;     // the flows that each direction of a link shall have
    std::size_t flows = 0;       // that are traced
    std::size_t links = 0;       // directions that they cross, and the opposite ones
    std::size_t covered = 0;     // those with enough flows
    std::size_t pairs = 0;       // that are probed because of this, beside the sample
    std::vector<Link> few = {};  // those with too few, the fewest first; at most kMaxListed
  };
  static constexpr std::size_t kMaxListed = 200;

  std::vector<Probe> probes;
};

// Pairs of a probe that shall be probed, too.
struct CoverPairs {
  std::string probe;
  std::vector<std::pair<IpAddress, IpAddress>> pairs;  // source, destination
  // What the pinglist says of the sample that they belong to; empty: it is in force here.
  std::string inputs = {};
};

}  // namespace pingloom::controller
