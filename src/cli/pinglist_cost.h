// What a pinglist costs and covers, as `pingloom check` and `pingloom plan` print it. Pure
// functions; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pinglist/cost.h"
#include "pinglist/pinglist.h"

namespace pingloom::cli {

// Returns lines, each indented by two spaces.
std::string costText(const pinglist::Cost& cost);

// Returns lines about each probe that samples, or "" if none does.
std::string coverageText(const pinglist::Pinglist& list);

// Returns the same figures, and what the whole pinglist costs, as `pingloom plan --json` has them.
nlohmann::ordered_json costJson(const pinglist::Pinglist& list);

}  // namespace pingloom::cli
