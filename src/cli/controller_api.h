// Asks the controller's REST API. Blocking; any thread.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <optional>
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
// Likewise, but nullopt where the controller is too old to know the path.
Result<std::optional<nlohmann::json>> askControllerIfKnown(const http::Site& site,
                                                           const std::string& path, Nanos timeout);
// Sends a POST or DELETE, whose body is JSON. Returns the answer.
Result<nlohmann::json> tellController(const http::Site& site, const http::ClientRequest& request,
                                      Nanos timeout);

}  // namespace pingloom::cli
