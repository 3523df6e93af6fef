#include "cli/service_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "http/client.h"

namespace pingloom::cli {
namespace {

// {"error":{"reason":"..."}}
std::string reasonOf(const Service& service, const http::ClientResponse& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const nlohmann::json::json_pointer reason("/error/reason");
  if (json.is_object() && json.contains(reason) && json[reason].is_string()) {
    return printable(json[reason].get<std::string>());
  }
  return fmt::format("is this really a pingloom {}?", service.name);
}

}  // namespace

Result<std::string> ask(const Service& service, const http::Site& site, const std::string& path,
                        Nanos timeout) {
  auto answer = http::get(site, path, timeout);
  if (!answer) {
    return makeError(answer.error().entity,
                     fmt::format("{}; is the {} running there? {}", answer.error().reason,
                                 service.name, service.when_silent));
  }
  if (answer->status != 200) {
    return makeError(site.url + path,
                     fmt::format("answered {}: {}", answer->status, reasonOf(service, *answer)));
  }
  return std::move(answer->body);
}

Result<nlohmann::json> askJson(const Service& service, const http::Site& site,
                               const std::string& path, Nanos timeout) {
  const auto body = ask(service, site, path, timeout);
  if (!body) return tl::unexpected(body.error());
  auto json = nlohmann::json::parse(*body, nullptr, false);
  if (json.is_discarded()) {
    return makeError(
        site.url + path,
        fmt::format("did not answer JSON; is this really a pingloom {}?", service.name));
  }
  return json;
}

}  // namespace pingloom::cli
