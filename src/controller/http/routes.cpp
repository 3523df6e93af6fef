#include "controller/http/routes.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "controller/http/api.h"
#include "controller/http/csv.h"
#include "controller/http/openapi.h"
#include "http/session_answer.h"

namespace pingloom::controller {
namespace {

using http::Answer;
using http::Request;

constexpr std::string_view kBurst = "/api/v1/bursts/{id}";
constexpr std::string_view kIncident = "/api/v1/incidents/{id}";
constexpr std::string_view kSilence = "/api/v1/silences/{id}";
constexpr std::string_view kMaintenance = "/api/v1/maintenance/{host}";
constexpr std::string_view kApplications = "/api/v1/applications/{host}";
constexpr std::string_view kAlertTest = "/api/v1/alerts/{target}/test";
constexpr std::string_view kPaths = "/api/v1/paths/{probe}/{source}/{destination}";
constexpr std::string_view kPairs = "/api/v1/pairs/{probe}/{source}/{destination}";

// Returns the part of the path in the place of the template's parameters.
std::string_view rest(const Request& request, std::string_view path) {
  return std::string_view(request.path).substr(path.find('{'));
}

Answer status(const Sources& from, const Request&) {
  return api::status(from.board, from.counters);
}
Answer hosts(const Sources& from, const Request&) { return api::hosts(from.board); }
Answer probes(const Sources& from, const Request&) { return api::probes(from.board); }
Answer counters(const Sources& from, const Request& request) {
  return api::counters(from.board, request);
}
Answer pastCounters(const Sources& from, const Request& request) {
  return api::pastCounters(from.history, request);
}
Answer grid(const Sources& from, const Request& request) { return api::grid(from.board, request); }
Answer worst(const Sources& from, const Request& request) {
  return api::worst(from.board, request);
}
Answer pair(const Sources& from, const Request& request) {
  return api::pair(from.board, rest(request, kPairs));
}
Answer paths(const Sources& from, const Request& request) {
  return api::paths(from.board, rest(request, kPaths));
}
Answer fabric(const Sources& from, const Request&) { return api::fabric(from.board); }
Answer fabricFlows(const Sources& from, const Request& request) {
  return api::fabricFlows(from.board, request);
}
Answer history(const Sources& from, const Request& request) {
  return api::history(from.board.plan(), from.history, request);
}
Answer pastPaths(const Sources& from, const Request& request) {
  return api::pastPaths(from.board, from.history, request);
}
Answer startBurst(const Sources& from, const Request& request) {
  return api::startBurst(from.board, from.bursts, request);
}
Answer burst(const Sources& from, const Request& request) {
  return api::burst(from.bursts, rest(request, kBurst));
}
Answer incidents(const Sources& from, const Request&) { return api::incidents(from.board); }
Answer incident(const Sources& from, const Request& request) {
  return api::incident(from.board, from.history, from.orders, rest(request, kIncident), request);
}
Answer pastIncidents(const Sources& from, const Request& request) {
  return api::pastIncidents(from.history, request);
}
Answer silences(const Sources& from, const Request& request) {
  return api::silencesList(from.board, from.orders, request);
}
Answer silence(const Sources& from, const Request& request) {
  return api::silence(from.orders, rest(request, kSilence));
}
Answer maintenanceList(const Sources& from, const Request& request) {
  return api::maintenanceList(from.board, from.orders, request);
}
Answer maintenance(const Sources& from, const Request& request) {
  return api::maintenance(from.orders, rest(request, kMaintenance));
}
Answer alerts(const Sources& from, const Request&) { return api::alerts(from.board); }
Answer controllers(const Sources& from, const Request&) { return api::controllers(from.board); }
Answer collectors(const Sources& from, const Request& request) {
  const bool tokens = from.access != nullptr && from.access->wantsTokens();
  return api::collectors(from.collectors, request, tokens);
}
Answer applications(const Sources& from, const Request&) {
  return api::applications(from.collectors);
}
Answer applicationsOf(const Sources& from, const Request& request) {
  return api::applicationsOf(from.collectors, rest(request, kApplications));
}
Answer anomalies(const Sources& from, const Request& request) {
  return api::anomalies(from.collectors, request);
}
Answer testAlert(const Sources& from, const Request& request) {
  return api::testAlert(from.alerts, rest(request, kAlertTest));
}
Answer metrics(const Sources& from, const Request&) {
  return api::metrics(from.board, from.bursts, from.counters, from.collectors);
}
Answer health(const Sources&, const Request&) { return api::health(); }
Answer readiness(const Sources& from, const Request& request) {
  return api::readiness(from.board, request.pass.role >= http::Role::kRead);
}
Answer session(const Sources& from, const Request& request) {
  return http::answerSession(from.access, request, from.counters);
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

// The columns that objects usually have. Labels, anomalies, paths and new members follow.
constexpr CsvTable kStatusTable = {kMembers, "name,value"};
constexpr CsvTable kSpanTable = {"", "oldest,newest"};
constexpr CsvTable kPingsTable = {
    "pings", "sequence,result,network_ns,responder_ns,prober_ns,rtt_ns,anomalous,ack_lost,late"};
constexpr CsvTable kHostsTable = {
    "hosts",
    "host,alive,addresses,endpoints,port,incarnation,version,public_key,pages,page_owners.owners,"
    "page_owners.left_out,first_seen,last_seen,plan,plan_in_force,plan_current,spooled_batches,"
    "spooled_bytes,"
    "spool_dropped,pings_sent,pings_skipped,stalls,refused_packets,error_counters_moved"};
constexpr CsvTable kCountersTable = {"counters", "device,port,counter,kind,total,moved,last_moved"};
constexpr CsvTable kPastCountersTable = {"counters", "minute,device,port,counter,kind,total,moved"};
constexpr CsvTable kProbesTable = {
    "probes",
    "name,protocol,paths,sources,destinations,pairs,self,interval_ns,timeout_ns,window_ns,"
    "traffic_class,payload,port"};
constexpr CsvTable kWorstTable = {"pairs",
                                  "source,source_name,destination,destination_name,state,"
                                  "severity,value"};
constexpr CsvTable kAlertsTable = {
    "targets", "name,kind,delivered,failed,dropped,waiting,last_error,last_delivered"};
constexpr CsvTable kControllersTable = {
    "controllers", "name,leader,address,http,agents,lag_ns,lease_left_ns,session,shown"};
constexpr CsvTable kPairTable = {"", ""};  // the answer is its only line
constexpr CsvTable kEventsTable = {"events",
                                   "at,window,probe,source,source_name,destination,destination_"
                                   "name,from,to,severity_from,severity,"
                                   "pairs"};
constexpr CsvTable kPathChangesTable = {"changes",
                                        "at,probe,flows,of,of_name,source,source_name,destination,"
                                        "destination_name,path,hop"};
// The lists within an incident have no place in a line.
constexpr std::string_view kIncidentColumns =
    "id,kind,culprit,severity,figure,opened,updated,closed,flaps,pairs.bad,pairs.judged,sentence,"
    "tell,silenced_by";
constexpr CsvTable kIncidentsTable = {"incidents", kIncidentColumns};
constexpr CsvTable kOpenTable = {"open", kIncidentColumns};
constexpr CsvTable kRowsTable = {
    "rows",
    "start,end,state,severity,sent,received,lost,refused,unreachable,ack_lost,duplicate,late,"
    "network_ns.min,network_ns.mean,network_ns.p50,network_ns.p95,network_ns.p99,network_ns.max,"
    "responder_ns.min,responder_ns.mean,responder_ns.p50,responder_ns.p95,responder_ns.p99,"
    "responder_ns.max,prober_ns.min,prober_ns.mean,prober_ns.p50,prober_ns.p95,prober_ns.p99,"
    "prober_ns.max,rtt_ns.min,rtt_ns.mean,rtt_ns.p50,rtt_ns.p95,rtt_ns.p99,rtt_ns.max,"
    "jitter_ns,clock,device,protocol"};

constexpr std::array<Route, 40> kRoutes = {{
    {"/api/v1/status", status, "format", &kStatusTable},
    {"/api/v1/hosts", hosts, "format", &kHostsTable},
    {"/api/v1/counters", counters, "host format", &kCountersTable},
    {"/api/v1/probes", probes, "format", &kProbesTable},
    {"/api/v1/grid", grid, "probe metric format"},
    {"/api/v1/worst", worst, "probe metric sort count format", &kWorstTable},
    {kPairs, pair, "format", &kPairTable},
    {kPaths, paths, ""},
    {"/api/v1/fabric", fabric, ""},
    {"/api/v1/fabric/flows", fabricFlows, "switch from to"},
    {"/api/v1/history", history, "format", &kSpanTable},
    {"/api/v1/history/grid", history, "probe metric at against worst format"},
    {"/api/v1/history/events", history, "probe from to source destination limit bins format",
     &kEventsTable},
    {"/api/v1/history/paths", pastPaths, "probe from to source destination limit format",
     &kPathChangesTable},
    {"/api/v1/history/pairs/{probe}/{source}/{destination}", history, "from to points path format",
     &kRowsTable},
    {"/api/v1/history/counters", pastCounters, "host from to limit format", &kPastCountersTable},
    {"/api/v1/history/incidents", pastIncidents, "from to limit format", &kIncidentsTable},
    {"/api/v1/incidents", incidents, "format", &kOpenTable},
    {kIncident, incident, "", nullptr, ""},
    {"/api/v1/silences", silences, "", nullptr, ""},
    {kSilence, silence, "", nullptr, "DELETE", http::Role::kOperate},
    {"/api/v1/maintenance", maintenanceList, "", nullptr, ""},
    {kMaintenance, maintenance, "", nullptr, "DELETE", http::Role::kOperate},
    {"/api/v1/bursts", startBurst, "", nullptr, "POST", http::Role::kOperate},
    {kBurst, burst, "format", &kPingsTable},
    {"/api/v1/controllers", controllers, "format", &kControllersTable},
    {"/api/v1/collectors", collectors, "", nullptr, "", http::Role::kRead, http::Role::kCollect},
    {"/api/v1/applications", applications, ""},
    {kApplications, applicationsOf, ""},
    {"/api/v1/anomalies", anomalies, "from to host"},
    {"/api/v1/alerts", alerts, "format", &kAlertsTable},
    {kAlertTest, testAlert, "", nullptr, "POST", http::Role::kOperate},
    {"/api/v1/live", live},
    {http::kSessionPath, session, "", nullptr, "", http::Role::kNone, http::Role::kNone},
    {"/api/v1/openapi.yaml", description},
    {"/metrics", metrics},
    {"/healthz", health, "", nullptr, "GET", http::Role::kNone},
    {"/-/healthy", health, "", nullptr, "GET", http::Role::kNone},
    {"/readyz", readiness, "", nullptr, "GET", http::Role::kNone},
    {"/-/ready", readiness, "", nullptr, "GET", http::Role::kNone},
}};

// Splits a text at its spaces.
std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

bool Route::matches(std::string_view requested) const {
  const std::size_t fixed = path.find('{');
  if (fixed == std::string_view::npos) return requested == path;
  return requested.starts_with(path.substr(0, fixed));
}

std::span<const Route> routes() { return kRoutes; }

http::Role neededRole(const Request& request) {
  for (const Route& route : kRoutes) {
    if (!route.matches(request.path)) continue;
    const bool changes = route.method.empty() && request.method != "GET";
    return changes ? route.needs_to_change : route.needs;
  }
  return http::Role::kNone;
}

std::optional<http::Response> refusedParameter(const Route& route, const Request& request) {
  // Health checks and scrapers of other products may add parameters to /healthz and /metrics.
  if (!route.path.starts_with("/api/")) return std::nullopt;
  return http::refusedParameter(request, wordsOf(route.parameters));
}

http::Response methodNotAllowed(std::string_view method) {
  const std::string answered = method == "GET" ? "GET, HEAD" : std::string(method);
  auto response = http::errorResponse(405, "this path takes only " + answered);
  response.headers.emplace_back("Allow", answered);
  return response;
}

std::optional<Answer> answerOf(const Sources& sources, const Request& request) {
  for (const Route& route : kRoutes) {
    if (!route.matches(request.path)) continue;
    if (!route.method.empty() && request.method != route.method)
      return methodNotAllowed(route.method);
    if (auto refused = refusedParameter(route, request)) return std::move(*refused);
    if (route.csv == nullptr) return route.answer(sources, request);
    const auto csv = wantsCsv(request);
    if (!csv) return csv.error();
    Answer answer = route.answer(sources, request);
    return *csv ? asCsv(std::move(answer), *route.csv) : std::move(answer);
  }
  return std::nullopt;
}

}  // namespace pingloom::controller
