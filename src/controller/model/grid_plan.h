// The shape of the grid, made of a pinglist. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "controller/model/board.h"

namespace pingloom::controller {

std::shared_ptr<const GridPlan> makeGridPlan(std::shared_ptr<const pinglist::Pinglist> pinglist,
                                             std::uint64_t generation);

// Where the address is in the list.
std::optional<std::uint32_t> indexOf(const plan::AddressList& list, const IpAddress& address);

// Whether the source probes the destination: not itself unless the probe says so, and never across
// address families.
bool isPair(const ProbeGrid& probe, const IpAddress& source, const IpAddress& destination);

// Whether the destination's agent has to be there for it to answer.
bool needsAgent(const plan::ProbeSpec& probe);

}  // namespace pingloom::controller
