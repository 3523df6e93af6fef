// Derives the shape of the grid from a pinglist. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "controller/model/board.h"

namespace pingloom::controller {

std::shared_ptr<const GridPlan> makeGridPlan(std::shared_ptr<const pinglist::Pinglist> pinglist,
                                             std::uint64_t generation);

// Returns the index of the address in the list.
// The names of the pinglist's topology.
SwitchNames switchNames(const GridPlan& plan);

std::optional<std::uint32_t> indexOf(const plan::AddressList& list, const IpAddress& address);

// Tells whether the source probes the destination: not itself unless the probe says so, and never
// across address families.
bool isPair(const ProbeGrid& probe, const IpAddress& source, const IpAddress& destination);

// Tells whether the destination needs a running agent to answer.
bool needsAgent(const plan::ProbeSpec& probe);

}  // namespace pingloom::controller
