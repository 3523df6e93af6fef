// What `pingloom alerts` prints, from the controller's answers. Members that are missing or of
// another kind are shown as a dash. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

// GET /api/v1/alerts as a table.
std::vector<std::string> reportAlerts(const nlohmann::json& answer);
// The answer to a test: a line for each place, and below it what came back.
std::vector<std::string> reportAlertTest(const nlohmann::json& answer);
// Whether every place has taken the test.
bool wasDelivered(const nlohmann::json& answer);

}  // namespace pingloom::cli
