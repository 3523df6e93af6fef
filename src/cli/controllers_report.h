// What `pingloom controllers` prints, from the controller's answer. Members that are missing or of
// another kind are shown as a dash. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

// GET /api/v1/controllers as a table, and what is wrong.
std::vector<std::string> reportControllers(const nlohmann::json& answer);
// Whether one of them leads, and the one that was asked is among them; or it works alone.
bool controllersHealthy(const nlohmann::json& answer);

}  // namespace pingloom::cli
