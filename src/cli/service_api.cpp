#include "cli/service_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

// {"error":{"reason":"..."}} or {"error":"..."}
std::string reasonOf(const Service& service, const http::ClientResponse& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  for (const char* place : {"/error/reason", "/error"}) {
    const nlohmann::json::json_pointer reason(place);
    if (json.is_object() && json.contains(reason) && json[reason].is_string()) {
      return printable(json[reason].get<std::string>());
    }
  }
  return fmt::format("is this really a pingloom {}?", service.name);
}

// Adds to an error what to do if nobody answers.
Result<http::ClientResponse> orAdvice(const Service& service, Result<http::ClientResponse> answer) {
  if (answer) return answer;
  return makeError(answer.error().entity,
                   fmt::format("{}; is the {} running there? {}", answer.error().reason,
                               service.name, service.when_silent));
}

tl::unexpected<Error> refusalOf(const Service& service, const std::string& url,
                                const http::ClientResponse& answer) {
  return makeError(url, fmt::format("answered {}: {}", answer.status, reasonOf(service, answer)));
}

Result<nlohmann::json> parsedAnswer(const Service& service, const std::string& url,
                                    const std::string& body) {
  auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_discarded()) return json;
  return makeError(url,
                   fmt::format("did not answer JSON; is this really a pingloom {}?", service.name));
}

}  // namespace

Result<std::string> ask(const Service& service, const http::Site& site, const std::string& path,
                        Nanos timeout) {
  auto answer = orAdvice(service, http::get(site, path, timeout));
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != 200) return refusalOf(service, site.url + path, *answer);
  return std::move(answer->body);
}

Result<nlohmann::json> askJson(const Service& service, const http::Site& site,
                               const std::string& path, Nanos timeout) {
  const auto body = ask(service, site, path, timeout);
  if (!body) return tl::unexpected(body.error());
  return parsedAnswer(service, site.url + path, *body);
}

Result<std::optional<nlohmann::json>> askJsonIfKnown(const Service& service, const http::Site& site,
                                                     const std::string& path, Nanos timeout) {
  const auto answer = orAdvice(service, http::get(site, path, timeout));
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 404) return std::nullopt;
  if (answer->status != 200) return refusalOf(service, site.url + path, *answer);
  auto json = parsedAnswer(service, site.url + path, answer->body);
  if (!json) return tl::unexpected(json.error());
  return std::optional(std::move(*json));
}

Result<nlohmann::json> tellJson(const Service& service, const http::Site& site,
                                const http::ClientRequest& request, Nanos timeout) {
  const auto answer = orAdvice(service, http::send(site, request, timeout));
  if (!answer) return tl::unexpected(answer.error());
  const std::string url = site.url + request.path_and_query;
  if (answer->status < 200 || answer->status > 299) return refusalOf(service, url, *answer);
  return parsedAnswer(service, url, answer->body);
}

}  // namespace pingloom::cli
