// Writes a known path as the JSON that Redis holds and /api/v1/paths shows; docs/paths.md explains
// its fields. Any thread.
#pragma once

#include <functional>
#include <string>

#include "controller/model/board.h"

namespace pingloom::controller {

// Returns the name of a router's switch, or "" if it has none.
using RouterNames = std::function<std::string(const IpAddress&)>;

// The names of the map's switches, unless they are nothing but one of their addresses. The map
// outlives the result.
RouterNames routerNames(const FabricMap& map);

// The flow's path number and what is known of it now; with `history` also what was before.
std::string pathJson(const KnownPath& known, const RouterNames& names, bool history);

}  // namespace pingloom::controller
