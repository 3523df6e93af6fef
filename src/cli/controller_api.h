// Asks the controller's REST API. Blocking; any thread.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

// Takes the site from --url, else $PINGLOOM_URL, else http://127.0.0.1:8080; see site_options.h.
Result<http::Site> controllerSite(const boost::program_options::variables_map& values);
constexpr const char* kUrlHelp =
    "the controller's address (default: $PINGLOOM_URL, else http://127.0.0.1:8080)";

// Returns the body of a 200. Any other answer is an error with the controller's reason.
Result<std::string> askController(const http::Site& site, const std::string& path, Nanos timeout);
Result<nlohmann::json> askControllerJson(const http::Site& site, const std::string& path,
                                         Nanos timeout);

}  // namespace pingloom::cli
