#include "controller/http/routes.h"

#include <array>
#include <string>

#include "controller/http/api.h"
#include "controller/http/csv.h"
#include "controller/http/openapi.h"

namespace pingloom::controller {
namespace {

using http::Answer;
using http::Request;

constexpr std::string_view kBurst = "/api/v1/bursts/{id}";
constexpr std::string_view kPairs = "/api/v1/pairs/{probe}/{source}/{destination}";

// What stands in the place of the path's parameters.
std::string_view rest(const Request& request, std::string_view path) {
  return std::string_view(request.path).substr(path.find('{'));
}

Answer status(const Sources& from, const Request&) {
  return api::status(from.board, from.counters);
}
Answer hosts(const Sources& from, const Request&) { return api::hosts(from.board); }
Answer probes(const Sources& from, const Request&) { return api::probes(from.board); }
Answer grid(const Sources& from, const Request& request) { return api::grid(from.board, request); }
Answer worst(const Sources& from, const Request& request) {
  return api::worst(from.board, request);
}
Answer pair(const Sources& from, const Request& request) {
  return api::pair(from.board, rest(request, kPairs));
}
Answer history(const Sources& from, const Request& request) {
  return api::history(from.board.plan(), from.history, request);
}
Answer startBurst(const Sources& from, const Request& request) {
  return api::startBurst(from.board, from.bursts, request);
}
Answer burst(const Sources& from, const Request& request) {
  return api::burst(from.bursts, rest(request, kBurst));
}
Answer metrics(const Sources& from, const Request&) {
  return api::metrics(from.board, from.bursts, from.counters);
}
Answer health(const Sources&, const Request&) { return api::health(); }
Answer readiness(const Sources& from, const Request& request) {
  return api::readiness(from.board, request.pass.role >= http::Role::kRead);
}
Answer session(const Sources& from, const Request& request) {
  return api::session(from.access, request, from.counters);
}

Answer live(const Sources&, const Request&) {
  auto response = http::errorResponse(426, "this is a WebSocket");
  response.headers.emplace_back("Upgrade", "websocket");
  return response;
}

Answer description(const Sources&, const Request&) {
  http::Response response;
  response.content_type = "application/yaml";
  response.body = openApi();
  return response;
}

constexpr std::array<Route, 20> kRoutes = {{
    {"/api/v1/status", status},
    {"/api/v1/hosts", hosts, "hosts"},
    {"/api/v1/probes", probes, "probes"},
    {"/api/v1/grid", grid},
    {"/api/v1/worst", worst, "pairs"},
    {kPairs, pair, ""},
    {"/api/v1/history", history},
    {"/api/v1/history/grid", history},
    {"/api/v1/history/events", history, "events"},
    {"/api/v1/history/pairs/{probe}/{source}/{destination}", history, "rows"},
    {"/api/v1/bursts", startBurst, nullptr, "POST", http::Role::kOperate},
    {kBurst, burst},
    {"/api/v1/live", live},
    {"/api/v1/session", session, nullptr, "", http::Role::kNone},
    {"/api/v1/openapi.yaml", description},
    {"/metrics", metrics},
    {"/healthz", health, nullptr, "GET", http::Role::kNone},
    {"/-/healthy", health, nullptr, "GET", http::Role::kNone},
    {"/readyz", readiness, nullptr, "GET", http::Role::kNone},
    {"/-/ready", readiness, nullptr, "GET", http::Role::kNone},
}};

}  // namespace

bool Route::matches(std::string_view requested) const {
  const std::size_t fixed = path.find('{');
  if (fixed == std::string_view::npos) return requested == path;
  return requested.starts_with(path.substr(0, fixed));
}

std::span<const Route> routes() { return kRoutes; }

http::Role neededRole(const Request& request) {
  for (const Route& route : kRoutes) {
    if (route.matches(request.path)) return route.needs;
  }
  return http::Role::kNone;
}

http::Response methodNotAllowed(std::string_view method) {
  const std::string answered = method == "GET" ? "GET, HEAD" : std::string(method);
  auto response = http::errorResponse(405, "here is only answered: " + answered);
  response.headers.emplace_back("Allow", answered);
  return response;
}

std::optional<Answer> answerOf(const Sources& sources, const Request& request) {
  for (const Route& route : kRoutes) {
    if (!route.matches(request.path)) continue;
    if (!route.method.empty() && request.method != route.method)
      return methodNotAllowed(route.method);
    if (route.csv == nullptr) return route.answer(sources, request);
    const auto csv = wantsCsv(request);
    if (!csv) return csv.error();
    Answer answer = route.answer(sources, request);
    return *csv ? asCsv(std::move(answer), route.csv) : std::move(answer);
  }
  return std::nullopt;
}

}  // namespace pingloom::controller
