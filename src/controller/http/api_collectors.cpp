// What collectors have read, and their registration.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/http/api.h"
#include "controller/http/json_answer.h"
#include "controller/http/past_query.h"
#include "http/media_type.h"

namespace pingloom::controller::api {
namespace {

constexpr std::size_t kMaxListed = 20'000;  // of an answer

http::Response listOf(Collectors& collectors) {
  Json list = Json::array();
  for (const Collectors::Entry& entry : collectors.list(monotonicNow())) {
    const CollectorView& view = *entry.view;
    list.push_back({{"name", entry.name},
                    {"url", entry.url},
                    {"controller", textOrNull(entry.controller)},
                    {"alive", entry.alive},
                    {"last_seen", utcOrNull(entry.heard_utc)},
                    {"answered", utcOrNull(view.answered_utc)},
                    {"problem", textOrNull(view.problem)},
                    {"watched", view.watched},
                    {"applications", view.applications.size()},
                    {"malformed", view.malformed},
                    {"beyond", view.beyond}});
  }
  return jsonAnswer({{"collectors", std::move(list)}});
}

http::Response enrol(Collectors& collectors, const http::Request& request, bool trusted) {
  const auto malformed = [&](unsigned status, std::string_view reason) {
    collectors.countMalformed();
    return http::errorResponse(status, reason);
  };
  if (!http::isJson(request.content_type)) {
    return malformed(415, "the Content-Type must be application/json");
  }
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    const auto found = body.is_object() ? body.find(key) : body.end();
    return found != body.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const Enrolment enrolment{text("name"), text("url"), request.peer, trusted, request.forwarded};
  if (enrolment.url.empty()) {
    return malformed(400, R"(the body must be {"name": TEXT, "url": "http://ADDRESS:PORT"})");
  }
  auto url = collectors.enrol(enrolment, Instant::now());
  if (!url) {
    const unsigned status = url.error().first == EnrolRefusal::kFull ? 429 : 400;
    return http::errorResponse(status, url.error().second);
  }
  return jsonAnswer({{"url", std::move(*url)}});
}

// Returns the newest kMaxListed of those that are kept.
template <typename Keep>
http::Response recordsOf(Collectors& collectors, Collectors::Records kind, std::string_view key,
                         Keep keep) {
  auto merged = collectors.merged(kind, monotonicNow());
  auto& records = merged.records;
  std::erase_if(records, [&](const CollectorRecord* record) { return !keep(*record); });
  std::stable_sort(records.begin(), records.end(),
                   [](const auto* a, const auto* b) { return a->utc < b->utc; });
  const std::size_t left_out = records.size() > kMaxListed ? records.size() - kMaxListed : 0;
  http::Response response;
  response.body =
      fmt::format(R"({{"collectors":{},"left_out":{},"{}":[)", merged.views.size(), left_out, key);
  for (std::size_t i = left_out; i < records.size(); ++i) {
    if (i > left_out) response.body += ',';
    response.body += records[i]->json;
  }
  response.body += "]}\n";
  return response;
}

}  // namespace

http::Answer collectors(Collectors& collectors, const http::Request& request, bool tokens) {
  if (request.method == "GET") return listOf(collectors);
  if (request.method == "POST") return enrol(collectors, request, tokens);
  auto response = http::errorResponse(405, "this path takes only GET, HEAD, POST");
  response.headers.emplace_back("Allow", "GET, HEAD, POST");
  return response;
}

http::Response applications(Collectors& collectors) {
  return recordsOf(collectors, &CollectorView::applications, "applications",
                   [](const CollectorRecord&) { return true; });
}

http::Response anomalies(Collectors& collectors, const http::Request& request) {
  const auto range = rangeOption(request);
  if (!range) return range.error();
  const auto host = request.query.find("host");
  return recordsOf(
      collectors, &CollectorView::events, "events", [&](const CollectorRecord& record) {
        const bool wanted = host == request.query.end() || host->second == record.host;
        return wanted && record.utc >= range->from_utc && record.utc < range->until_utc;
      });
}

http::Answer applicationsOf(Collectors& collectors, std::string_view host) {
  return http::Later([&collectors, host = std::string(host)](const http::Respond& respond) {
    switch (collectors.ask(host, respond, monotonicNow())) {
      case Collectors::Asked::kAsked:
        return;
      case Collectors::Asked::kNobody:
        respond(http::errorResponse(
            404, "no registered collector reads metric pages of '" + host + "'"));
        return;
      case Collectors::Asked::kBusy:
        respond(http::errorResponse(503, "too many questions wait for the host's collector"));
    }
  });
}

}  // namespace pingloom::controller::api
