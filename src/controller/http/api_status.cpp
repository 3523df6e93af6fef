#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/program.h"
#include "common/text.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/json_answer.h"

namespace pingloom::controller::api {
namespace {

Json stateCounts(const StateCounts& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) json[std::string(kPairStateNames[i])] = counts[i];
  return json;
}

Json severityCounts(const SeverityCounts& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) json[std::string(kSeverityNames[i])] = counts[i];
  return json;
}

Json pinglistJson(const GridPlan& plan, const ControlStatus& control) {
  Json json = {{"path", control.pinglist_path},
               {"generation", plan.generation},
               {"hash", hashText(plan.hash)},
               {"loaded", utcOrNull(control.pinglist_loaded_utc)},
               {"reloads", control.pinglist_reloads},
               {"rejections", control.pinglist_rejections},
               {"error", textOrNull(control.pinglist_error)},
               {"members", control.members},
               {"notes", control.member_notes},
               {"warnings", Json::array()}};
  if (plan.pinglist != nullptr) json["warnings"] = plan.pinglist->warnings;
  for (const std::string& warning : control.member_warnings) json["warnings"].push_back(warning);
  return json;
}

Json agentsJson(const Hosts& hosts) {
  const auto count = [&hosts](auto condition) {
    return std::count_if(hosts.begin(), hosts.end(), condition);
  };
  return {{"known", hosts.size()},
          {"alive", count([](const AgentInfo& agent) { return agent.alive; })},
          {"plan_current",
           count([](const AgentInfo& agent) { return agent.alive && agent.plan_current; })},
          {"error_counters_moved", count([now = utcNow()](const AgentInfo& agent) {
             return agent.counters != nullptr && errorsMoved(*agent.counters, now) > 0;
           })}};
}

Json redisJson(const RedisStatus& redis) {
  return {{"target", redis.target},
          {"connected", redis.connected},
          {"error", textOrNull(redis.last_error)},
          {"rows_written", redis.rows_written},
          {"reconnects", redis.reconnects},
          {"events_dropped", redis.events_dropped}};
}

Json controlJson(const ControlStatus& control) {
  Json refused = Json::object();
  for (std::size_t i = 0; i < kRefusedNames.size(); ++i) {
    refused[std::string(kRefusedNames[i])] = control.refused_by_reason[i];
  }
  Json reports = Json::object();
  for (std::size_t i = 0; i < kReportFaultNames.size(); ++i) {
    reports[std::string(kReportFaultNames[i])] = control.reports_refused[i];
  }
  return {{"batches_committed", control.batches_committed},
          {"batches_duplicate", control.batches_duplicate},
          {"batches_shown", control.batches_shown},
          {"rows_committed", control.rows_committed},
          {"rows_ignored", control.rows_ignored},
          {"messages_refused", control.messages_refused},
          {"messages_dropped", control.messages_dropped},
          {"refused_by_reason", std::move(refused)},
          {"reports_refused", std::move(reports)}};
}

Json latencyJson(const LatencyShape& shape) {
  return {{"series", shape.series},
          {"max_series", LatencyShape::kMaxSeries},
          {"probes_left_out", shape.probes_left_out},
          {"combinations_left_out", shape.combinations_left_out}};
}

Json thresholdsJson(const pinglist::Thresholds& thresholds) {
  Json json = Json::object();
  for (std::size_t i = 0; i < thresholds.of.size(); ++i) {
    json[std::string(kFigureNames[i])] = {{"warn", textOrNull(thresholds.of[i].warn.text())},
                                          {"crit", textOrNull(thresholds.of[i].crit.text())}};
  }
  return json;
}

Json probeJson(const ProbeGrid& grid, const CellCounts& counts) {
  const StateCounts states = counts.states();
  std::uint64_t pairs = 0;
  for (const std::uint64_t count : states) pairs += count;
  const plan::ProbeSpec& spec = grid.spec;
  return {{"name", spec.name},
          {"protocol", name(spec.protocol)},
          {"paths", spec.paths},
          {"sources", grid.sources.size()},
          {"destinations", grid.destinations.size()},
          {"pairs", pairs},
          {"self", spec.self},
          {"interval_ns", spec.interval},
          {"timeout_ns", spec.timeout},
          {"window_ns", spec.window},
          {"traffic_class", spec.traffic_class},
          {"payload", spec.payload},
          {"service_level", spec.service_level ? Json(*spec.service_level) : Json()},
          {"gid_index", spec.gid_index ? Json(*spec.gid_index) : Json()},
          {"port", spec.port == 0 ? Json() : Json(spec.port)},
          {"thresholds", thresholdsJson(grid.thresholds)},
          {"rollup", textOrNull(grid.rollup)},
          {"states", stateCounts(states)},
          {"severities", severityCounts(counts.severities())}};
}

Json keysJson(const ControlStatus& control) {
  const KeysStatus keys = control.keys.value_or(KeysStatus());
  return {{"in_use", control.keys.has_value()},
          {"exposed", control.exposed},
          {"authorized", keys.authorized},
          {"waiting", keys.waiting}};
}

}  // namespace

http::Response status(const Board& board, const http::ServerCounters& counters) {
  const auto plan = board.plan();
  const auto control = board.control();
  CellCounts totals;
  for (std::uint32_t probe = 0; probe < plan->probes.size(); ++probe) {
    totals += countPairs(board, *plan, probe);
  }
  const auto reasons = notReady(board);
  const auto history = control->history;
  return jsonAnswer({{"version", program::version()},
                     {"started", utcOrNull(control->started_utc)},
                     {"now", formatUtc(utcNow())},
                     {"ready", reasons.empty()},
                     {"not_ready", reasons},
                     {"pinglist", pinglistJson(*plan, *control)},
                     {"probes", plan->probes.size()},
                     {"pairs", stateCounts(totals.states())},
                     {"severities", severityCounts(totals.severities())},
                     {"agents", agentsJson(*board.hosts())},
                     {"control", controlJson(*control)},
                     {"keys", keysJson(*control)},
                     {"redis", redisJson(*board.redis())},
                     {"history",
                      {{"writing", history.writing},
                       {"error", textOrNull(history.last_error)},
                       {"windows_written", history.windows_written},
                       {"blocks_dropped", history.blocks_dropped},
                       {"bytes", history.bytes},
                       {"events_written", history.events_written},
                       {"events_dropped", history.events_dropped}}},
                     {"latency", latencyJson(*board.latency()->shape)},
                     {"alerts", alertsJson(*board.alerts())},
                     {"http",
                      {{"connections", counters.connections_open.load()},
                       {"viewers", counters.websockets_open.load()}}}});
}

http::Response probes(const Board& board) {
  const auto plan = board.plan();
  Json json = {{"generation", plan->generation}, {"probes", Json::array()}};
  for (std::uint32_t probe = 0; probe < plan->probes.size(); ++probe) {
    json["probes"].push_back(probeJson(plan->probes[probe], countPairs(board, *plan, probe)));
  }
  return jsonAnswer(json);
}

http::Response unknownProbe(const GridPlan& plan, const std::string& name) {
  std::vector<std::string_view> known;
  for (const ProbeGrid& grid : plan.probes) known.push_back(grid.spec.name);
  return http::errorResponse(404, "no probe '" + name + "'" + didYouMean(name, known));
}

}  // namespace pingloom::controller::api
