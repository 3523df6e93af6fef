#include "cli/controller_api.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "http/client.h"

namespace pingloom::cli {
namespace {

// {"error":{"reason":"..."}}
std::string reasonOf(const http::ClientResponse& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const nlohmann::json::json_pointer reason("/error/reason");
  if (json.is_object() && json.contains(reason) && json[reason].is_string()) {
    return printable(json[reason].get<std::string>());
  }
  return "is this really a pingloom controller?";
}

}  // namespace

std::string controllerUrl(const boost::program_options::variables_map& values) {
  if (values.count("url") != 0) return values["url"].as<std::string>();
  const char* environment = std::getenv("PINGLOOM_URL");
  if (environment != nullptr && *environment != '\0') return environment;
  return "http://127.0.0.1:8080";
}

Result<std::string> askController(const std::string& url, const std::string& path, Nanos timeout) {
  auto answer = http::get(url, path, timeout);
  if (!answer) {
    return makeError(answer.error().entity,
                     answer.error().reason +
                         "; is the controller running there? Give its address with --url or the "
                         "environment variable PINGLOOM_URL");
  }
  if (answer->status != 200) {
    return makeError(url + path,
                     "answered " + std::to_string(answer->status) + ": " + reasonOf(*answer));
  }
  return std::move(answer->body);
}

Result<nlohmann::json> askControllerJson(const std::string& url, const std::string& path,
                                         Nanos timeout) {
  const auto body = askController(url, path, timeout);
  if (!body) return tl::unexpected(body.error());
  auto json = nlohmann::json::parse(*body, nullptr, false);
  if (json.is_discarded()) {
    return makeError(url + path, "did not answer JSON; is this really a pingloom controller?");
  }
  return json;
}

}  // namespace pingloom::cli
