// Observations by the switches at both ends of their paths. A flow that left its recorded path
// took another one between the same two switches.
#pragma once

#include <span>
#include <vector>

#include "localise/localise.h"

namespace pingloom::localise {

class Edges {
 public:
  Edges(const Fabric& fabric, std::span<const Observation> evidence);

  struct Near {
    std::uint32_t all = 0;             // observations
    std::vector<std::uint32_t> lossy;  // numbers of those with loss
  };
  // What could cross a component and does not by its record: all observations from a switch where
  // one of `rows` begins to a switch where one of them ends, but for these rows themselves.
  // REQUIRES: `rows` are all that cross the component, in rising order.
  Near near(std::span<const std::uint32_t> rows) const;

 private:
  struct Pair {
    NodeId first = 0;
    NodeId last = 0;
    std::uint32_t all = 0;
    std::vector<std::uint32_t> lossy;
  };

  const Fabric& fabric_;
  std::span<const Observation> evidence_;
  std::vector<Pair> pairs_;
};

}  // namespace pingloom::localise
