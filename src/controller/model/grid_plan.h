// Derives the shape of the grid from a pinglist. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "controller/model/board.h"

namespace pingloom::controller {

std::shared_ptr<const GridPlan> makeGridPlan(std::shared_ptr<const pinglist::Pinglist> pinglist,
                                             std::uint64_t generation);

// The names of the pinglist's topology.
SwitchNames switchNames(const GridPlan& plan);

// Returns the index of the probe with this name.
std::optional<std::uint32_t> probeNamed(const GridPlan& plan, std::string_view name);

// Returns the index of the address in the list.
std::optional<std::uint32_t> indexOf(const plan::AddressList& list, const IpAddress& address);

// Finds the destinations of a report. Agents report in the plan's order, so the next destination is
// nearly always the next index. REQUIRES: the list outlives it.
class DestinationFinder {
 public:
  explicit DestinationFinder(const plan::AddressList& list) : list_(list) {}
  std::optional<std::uint32_t> find(const IpAddress& address) {
    for (std::uint32_t skip = 0; skip < 2; ++skip) {
      const std::uint32_t at = next_ + skip;
      if (at < list_.size() && list_[at] == address) {
        next_ = at + 1;
        return at;
      }
    }
    const auto at = indexOf(list_, address);
    if (at) next_ = *at + 1;
    return at;
  }

 private:
  const plan::AddressList& list_;
  std::uint32_t next_ = 0;
};

// Tells whether the source probes the destination: not itself unless the probe says so, never
// across address families, and only what its plan samples. REQUIRES: both are in the lists.
bool isPair(const ProbeGrid& probe, std::size_t source, std::size_t destination);

// Calls visit(destination) for each pair of the source, ascending. If the probe samples, it takes
// time for the sample only.
template <typename Visit>
void forEachPair(const ProbeGrid& probe, std::size_t source, Visit&& visit) {
  const IpAddress& from = probe.sources[source];
  const auto visit_pair = [&](std::size_t destination) {
    const IpAddress& to = probe.destinations[destination];
    if (from.isV4() == to.isV4() && (probe.spec.self || from != to)) visit(destination);
  };
  if (probe.targets == nullptr) {
    for (std::size_t i = 0; i < probe.destinations.size(); ++i) visit_pair(i);
    return;
  }
  for (const std::uint32_t i : probe.targets->of(static_cast<std::uint32_t>(source))) visit_pair(i);
}

// Returns the number of paths of a pair, or 0 if there is only one. Pairs within a group of a probe
// that samples have one.
std::uint32_t pathsOf(const ProbeGrid& probe, std::size_t source, std::size_t destination);

// Tells whether the destination needs a running agent to answer.
bool needsAgent(const plan::ProbeSpec& probe);

}  // namespace pingloom::controller
