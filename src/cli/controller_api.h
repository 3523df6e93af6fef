// Asks the controller's REST API. Blocking; any thread.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::cli {

// --url, else $PINGLOOM_URL, else http://127.0.0.1:8080.
std::string controllerUrl(const boost::program_options::variables_map& values);
constexpr const char* kUrlHelp =
    "the controller's address (default: $PINGLOOM_URL, else http://127.0.0.1:8080)";

// The body of a 200. Other answers are errors with the reason the controller gives.
Result<std::string> askController(const std::string& url, const std::string& path, Nanos timeout);
Result<nlohmann::json> askControllerJson(const std::string& url, const std::string& path,
                                         Nanos timeout);

}  // namespace pingloom::cli
