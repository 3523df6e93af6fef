// What `pingloom events` and `pingloom path` print about changes, from the controller's documents
// (docs/http-api.md). Pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

// One line: what a change of flows' paths was, such as "hop 2: spine1 -> spine3".
std::string pathChangeText(const nlohmann::json& change);

// The lines of a table of both, the oldest first: `events` is the list of /api/v1/history/events,
// and `paths` that of /api/v1/history/paths.
std::vector<std::string> eventLines(const nlohmann::json& events, const nlohmann::json& paths);

// What `pingloom path` adds about the past: the changes of a direction of a pair, the newest first.
std::vector<std::string> pathHistoryLines(const nlohmann::json& changes);

}  // namespace pingloom::cli
