// Words the controller's answers about paths and the fabric for a terminal. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pingloom::cli {

// The answer of /api/v1/paths; only path `label` if it is given.
std::vector<std::string> pathLines(const nlohmann::json& paths, std::optional<std::uint32_t> label);

// The answer of /api/v1/fabric: switches by tier, and the links of those that an incident accuses
// or that few flows take first.
std::vector<std::string> fabricLines(const nlohmann::json& fabric);

}  // namespace pingloom::cli
