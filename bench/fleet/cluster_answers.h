// What one of several controllers says over HTTP. A controller that does not answer says nothing.
#pragma once

#include <cstdint>

#include "shared/controller_process.h"

namespace pingloom::bench {

bool leads(const ControllerProcess& controller);
// The pairs that a controller judges; none unless it leads.
std::uint64_t judgedPairs(const ControllerProcess& controller);
// The pairs that a controller shows as measured.
std::uint64_t shownPairs(const ControllerProcess& controller);

}  // namespace pingloom::bench
