#include "controller/http/order_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/duration.h"
#include "common/text.h"
#include "http/media_type.h"

namespace pingloom::controller::api {
namespace {

using OrderBody = nlohmann::json;
using Keys = std::vector<std::string_view>;

tl::unexpected<http::Response> badOrder(const std::string& reason) {
  return tl::unexpected(http::errorResponse(400, reason));
}

tl::expected<OrderBody, http::Response> bodyOf(const http::Request& request, const Keys& keys) {
  if (!http::isJson(request.content_type)) {
    return tl::unexpected(http::errorResponse(415, "the Content-Type must be application/json"));
  }
  if (request.body.size() > kMaxOrderRequest) {
    return tl::unexpected(http::errorResponse(
        413, fmt::format("the body is larger than {} bytes", kMaxOrderRequest)));
  }
  OrderBody body = OrderBody::parse(request.body, nullptr, false);
  if (!body.is_object()) return badOrder("the body is not a JSON object");
  for (const auto& [key, value] : body.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return badOrder("unknown key '" + key + "'" + didYouMean(key, keys));
    }
  }
  return body;
}

tl::expected<std::string, http::Response> optionalText(const OrderBody& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end()) return std::string();
  if (!found->is_string()) return badOrder(fmt::format("'{}' is not a string", key));
  return found->get<std::string>();
}

// Returns when something ends; nullopt where the body does not say.
tl::expected<std::optional<Nanos>, http::Response> endOf(const OrderBody& body, Nanos now_utc) {
  const auto until = optionalText(body, "until");
  if (!until) return tl::unexpected(until.error());
  const auto duration = optionalText(body, "duration");
  if (!duration) return tl::unexpected(duration.error());
  if (!until->empty() && !duration->empty()) {
    return badOrder("write either 'until' or 'duration'");
  }
  if (!until->empty()) {
    const auto time = parseUtc(*until);
    if (!time) return badOrder("'until': " + time.error().text());
    return *time;
  }
  if (duration->empty()) return std::nullopt;
  const auto length = parseDuration(*duration);
  if (!length) return badOrder("'duration': " + length.error().text());
  if (*length <= 0) return badOrder("'duration' is not positive");
  return *length > kLatestUtc - now_utc ? kLatestUtc : now_utc + *length;
}

}  // namespace

tl::expected<VerdictOrder, http::Response> acknowledgeOrder(std::uint64_t incident,
                                                            const http::Request& request) {
  const auto body = bodyOf(request, {"acknowledge", "by", "comment"});
  if (!body) return tl::unexpected(body.error());
  const auto wanted = body->find("acknowledge");
  if (wanted == body->end() || !wanted->is_boolean()) {
    return badOrder("'acknowledge' is missing or not true or false");
  }
  const auto by = optionalText(*body, "by");
  if (!by) return tl::unexpected(by.error());
  const auto comment = optionalText(*body, "comment");
  if (!comment) return tl::unexpected(comment.error());
  AcknowledgeOrder made{incident, std::nullopt};
  if (wanted->get<bool>()) made.acknowledgement = Acknowledgement{*by, *comment, 0};
  return made;
}

tl::expected<VerdictOrder, http::Response> silenceOrder(const http::Request& request,
                                                        Nanos now_utc) {
  const auto body = bodyOf(request, {"matchers", "until", "duration", "by", "comment"});
  if (!body) return tl::unexpected(body.error());
  AddSilenceOrder made;
  const auto matchers = body->find("matchers");
  if (matchers == body->end() || !matchers->is_object() || matchers->empty() ||
      matchers->size() > kMaxMatchers) {
    return badOrder(
        fmt::format(R"('matchers' must be an object of 1 to {} labels, such as {{"host":"gpu-3"}})",
                    kMaxMatchers));
  }
  for (const auto& [label, value] : matchers->items()) {
    if (!value.is_string()) return badOrder("the value of matcher '" + label + "' is no string");
    made.silence.matchers[label] = value.get<std::string>();
  }
  const auto end = endOf(*body, now_utc);
  if (!end) return tl::unexpected(end.error());
  if (!*end) return badOrder("'until' or 'duration' is missing");
  const auto by = optionalText(*body, "by");
  if (!by) return tl::unexpected(by.error());
  const auto comment = optionalText(*body, "comment");
  if (!comment) return tl::unexpected(comment.error());
  made.silence.until_utc = **end;
  made.silence.by = *by;
  made.silence.comment = *comment;
  return made;
}

tl::expected<VerdictOrder, http::Response> maintenanceOrder(const http::Request& request,
                                                            Nanos now_utc) {
  const auto body = bodyOf(request, {"host", "until", "duration", "by", "comment"});
  if (!body) return tl::unexpected(body.error());
  BeginMaintenanceOrder made;
  const auto host = optionalText(*body, "host");
  if (!host) return tl::unexpected(host.error());
  if (host->empty()) return badOrder("'host' is missing");
  const auto end = endOf(*body, now_utc);
  if (!end) return tl::unexpected(end.error());
  const auto by = optionalText(*body, "by");
  if (!by) return tl::unexpected(by.error());
  const auto comment = optionalText(*body, "comment");
  if (!comment) return tl::unexpected(comment.error());
  made.maintenance.host = *host;
  made.maintenance.until_utc = end->value_or(kNever);
  made.maintenance.by = *by;
  made.maintenance.comment = *comment;
  return made;
}

}  // namespace pingloom::controller::api
