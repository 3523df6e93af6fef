#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "common/metrics_text.h"
#include "common/program.h"
#include "common/time.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/latency_metrics.h"

namespace pingloom::controller::api {
namespace {

double seconds(Nanos utc) { return static_cast<double>(utc) / static_cast<double>(kSecond); }

void agentMetrics(MetricsText& text, const Hosts& hosts) {
  // The other controllers that share the history have metrics of their own.
  const auto count = [&hosts](auto condition) {
    return std::count_if(hosts.begin(), hosts.end(), [&](const AgentInfo& agent) {
      return agent.isHere() && condition(agent);
    });
  };
  text.gauge("pingloom_controller_agents_known", "Agents that have registered.",
             count([](const AgentInfo&) { return true; }));
  text.gauge("pingloom_controller_agents_alive", "Agents with a live lease.",
             count([](const AgentInfo& agent) { return agent.alive; }));
  text.gauge("pingloom_controller_agents_plan_current", "Live agents that hold the plan in force.",
             count([](const AgentInfo& agent) { return agent.alive && agent.plan_current; }));
}

void pinglistMetrics(MetricsText& text, const GridPlan& plan, const ControlStatus& control) {
  text.gauge("pingloom_controller_pinglist_generation",
             "Number of the pinglist in force; each new pinglist increases it.", plan.generation);
  text.counter("pingloom_controller_pinglist_reloads_total", "Pinglists that have come into force.",
               control.pinglist_reloads);
  text.counter("pingloom_controller_pinglist_rejections_total",
               "Saved pinglists that were rejected.", control.pinglist_rejections);
  text.gauge("pingloom_controller_pinglist_last_reload_successful",
             "1 when the pinglist on disk is in force, 0 when it was rejected.",
             control.pinglist_error.empty() ? 1 : 0);
  if (control.pinglist_loaded_utc != 0) {
    text.gauge("pingloom_controller_pinglist_loaded_timestamp_seconds",
               "Time at which the pinglist in force was loaded.",
               seconds(control.pinglist_loaded_utc));
  }
}

void reportFaults(MetricsText& text, std::string_view name, std::string_view help,
                  const ReportFaults& refused) {
  text.family(name, "counter", help);
  for (std::size_t i = 0; i < kReportFaultNames.size(); ++i) {
    text.sample(refused[i], {{"reason", kReportFaultNames[i]}});
  }
}

void resultMetrics(MetricsText& text, const ControlStatus& control) {
  text.counter("pingloom_controller_batches_committed_total",
               "Committed batches from agents, each counted once.", control.batches_committed);
  text.counter("pingloom_controller_batches_duplicate_total",
               "Batches that agents sent again and that were only acknowledged.",
               control.batches_duplicate);
  text.counter("pingloom_controller_batches_shown_total",
               "Batches that were shown but not committed; agents send them again.",
               control.batches_shown);
  text.counter("pingloom_controller_rows_committed_total", "Rows in committed batches.",
               control.rows_committed);
  text.counter("pingloom_controller_rows_ignored_total",
               "Rows of pairs that are not in the plan, or older than the pair's newest row.",
               control.rows_ignored);
  text.counter("pingloom_controller_messages_refused_total",
               "Messages from agents that were refused.", control.messages_refused);
  text.counter("pingloom_controller_messages_dropped_total",
               "Messages that were dropped unread because their sender had too many waiting.",
               control.messages_dropped);
  text.family("pingloom_controller_refusals_total", "counter",
              "Refusals sent to agents, by reason.");
  for (std::size_t i = 0; i < kRefusedNames.size(); ++i) {
    text.sample(control.refused_by_reason[i], {{"reason", kRefusedNames[i]}});
  }
  reportFaults(text, "pingloom_controller_reports_refused_total",
               "Batches and reports from agents that were refused, by reason.",
               control.reports_refused);
}

void keyMetrics(MetricsText& text, const std::optional<KeysStatus>& keys) {
  if (!keys) return;
  text.gauge("pingloom_controller_authorized_keys", "Keys in the list of authorised keys.",
             keys->authorized);
  text.gauge("pingloom_controller_authorized_keys_last_reload_successful",
             "1 when the list of authorised keys on disk is in force, 0 when it was rejected.",
             keys->newest_in_force ? 1 : 0);
  text.gauge("pingloom_controller_keys_waiting", "Keys that wait for somebody to approve them.",
             keys->waiting);
  text.family("pingloom_controller_joins_total", "counter",
              "Requests to join with a token, by outcome.");
  for (std::size_t i = 1; i < keys->joins.size(); ++i) {
    text.sample(keys->joins[i], {{"outcome", wire::kJoinOutcomeNames[i]}});
  }
  text.family("pingloom_controller_peers_refused_total", "counter",
              "Connections and messages refused because of the peer's key, by reason.");
  for (std::size_t i = 0; i < keys->refused.size(); ++i) {
    text.sample(keys->refused[i], {{"reason", net::kPeerRefusalNames[i]}});
  }
}

void storeMetrics(MetricsText& text, const RedisStatus& redis, const HistoryStatus& history) {
  text.gauge("pingloom_controller_redis_connected", "1 while connected to Redis.",
             redis.connected ? 1 : 0);
  text.counter("pingloom_controller_redis_rows_written_total", "Rows written to Redis.",
               redis.rows_written);
  text.counter("pingloom_controller_redis_reconnects_total", "Reconnections to Redis.",
               redis.reconnects);
  text.counter("pingloom_controller_redis_events_dropped_total",
               "State changes that were not written to Redis.", redis.events_dropped);
  text.gauge("pingloom_controller_history_writing",
             "1 while history is being written, 0 while it cannot be.", history.writing ? 1 : 0);
  text.counter("pingloom_controller_history_windows_written_total",
               "Windows of sources written to history.", history.windows_written);
  text.counter("pingloom_controller_history_blocks_dropped_total",
               "Unreadable blocks of history that were dropped.", history.blocks_dropped);
  text.counter("pingloom_controller_history_events_written_total",
               "Lines of state changes written to history.", history.events_written);
  text.counter("pingloom_controller_history_events_dropped_total",
               "Lines of state changes and of agents' presence that could not be written.",
               history.events_dropped);
  text.gauge("pingloom_controller_history_size_bytes", "Size of the history database.",
             history.bytes);
}

void clusterMetrics(MetricsText& text, const ClusterStatus& cluster, const ControlStatus& control) {
  if (cluster.alone()) return;
  text.gauge("pingloom_controller_cluster_member",
             "1 while this controller has a session among those that share its history.",
             cluster.session != 0 ? 1 : 0);
  text.gauge("pingloom_controller_cluster_leader", "1 while this controller leads.",
             cluster.leads ? 1 : 0);
  text.gauge("pingloom_controller_cluster_epoch",
             "The leader's epoch; each controller that takes the lead increases it.",
             cluster.epoch);
  text.gauge("pingloom_controller_cluster_members", "Controllers that share the history.",
             cluster.members.size());
  text.counter("pingloom_controller_cluster_sessions_lost_total",
               "Sessions that ended because the lease was not renewed in time.",
               cluster.sessions_lost);
  text.counter("pingloom_controller_cluster_agents_sent_away_total",
               "Times that an agent was sent to another controller, its home.",
               control.agents_sent_away);
  text.gauge("pingloom_controller_cluster_controllers_heard",
             "Other controllers that tell what their agents report.",
             control.controllers_heard.size());
  text.counter("pingloom_controller_cluster_batches_relayed_total",
               "Batches of agents of other controllers that are shown here.",
               control.batches_relayed);
  reportFaults(text, "pingloom_controller_cluster_reports_refused_total",
               "Batches and reports that other controllers told and that were refused, by reason.",
               control.relayed_refused);
  text.counter("pingloom_controller_cluster_followers_restarted_total",
               "Times that another controller was too slow for what this one told.",
               control.followers_restarted);
}

void collectorMetrics(MetricsText& text, Collectors& collectors) {
  const auto known = collectors.list(monotonicNow());
  const auto alive =
      std::count_if(known.begin(), known.end(), [](const auto& entry) { return entry.alive; });
  text.family("pingloom_controller_collectors", "gauge",
              "Collectors that have registered, by whether their registrations still arrive.");
  text.sample(alive, {{"state", "alive"}});
  text.sample(static_cast<std::ptrdiff_t>(known.size()) - alive, {{"state", "gone"}});
  const auto answering = std::count_if(known.begin(), known.end(), [](const auto& entry) {
    return entry.alive && entry.view->answered_utc != 0 && entry.view->problem.empty();
  });
  text.gauge("pingloom_controller_collectors_answering",
             "Collectors that are alive and answered the controller's last question.", answering);
  text.family("pingloom_controller_collector_registrations_refused_total", "counter",
              "Registrations of collectors that were refused, by reason.");
  for (std::size_t i = 0; i < kEnrolRefusals.size(); ++i) {
    text.sample(collectors.refused()[i], {{"reason", kEnrolRefusals[i]}});
  }
  std::uint64_t malformed = 0, beyond = 0;
  for (const auto& entry : known) {
    malformed += entry.view->malformed;
    beyond += entry.view->beyond;
  }
  text.family("pingloom_controller_collector_records_left_out", "gauge",
              "Applications and events that are left out of collectors' last answers, by reason.");
  text.sample(malformed, {{"reason", "malformed"}});
  text.sample(beyond, {{"reason", "too many"}});
}

void alertMetrics(MetricsText& text, const AlertStatuses& targets) {
  if (targets.empty()) return;
  const auto family = [&](const char* name, const char* type, const char* help,
                          std::uint64_t AlertTargetStatus::*value) {
    text.family(name, type, help);
    for (const AlertTargetStatus& target : targets) {
      text.sample(target.*value, {{"target", target.name}});
    }
  };
  family("pingloom_alerts_delivered_total", "counter", "Notifications that a target has taken.",
         &AlertTargetStatus::delivered);
  family("pingloom_alerts_failed_total", "counter", "Attempts to deliver that failed.",
         &AlertTargetStatus::failed);
  family("pingloom_alerts_dropped_total", "counter", "Notifications that were given up.",
         &AlertTargetStatus::dropped);
  family("pingloom_alerts_waiting", "gauge", "Notifications that wait to be delivered.",
         &AlertTargetStatus::waiting);
}

void pairMetrics(MetricsText& text, const Board& board, const GridPlan& plan) {
  std::vector<CellCounts> counts;
  counts.reserve(plan.probes.size());
  for (std::uint32_t probe = 0; probe < plan.probes.size(); ++probe) {
    counts.push_back(countPairs(board, plan, probe));
  }
  text.family("pingloom_controller_pairs", "gauge", "Pairs by probe and state.");
  for (std::size_t probe = 0; probe < counts.size(); ++probe) {
    const StateCounts states = counts[probe].states();
    const plan::ProbeSpec& spec = plan.probes[probe].spec;
    for (std::size_t i = 0; i < states.size(); ++i) {
      text.sample(
          states[i],
          {{"probe", spec.name}, {"protocol", name(spec.protocol)}, {"state", kPairStateNames[i]}});
    }
  }
  text.family("pingloom_pairs", "gauge",
              "Pairs by probe, state and severity; only combinations that some pair has.");
  for (std::size_t probe = 0; probe < counts.size(); ++probe) {
    for (std::size_t state = 0; state < kPairStateNames.size(); ++state) {
      for (std::size_t i = 0; i < kSeverityNames.size(); ++i) {
        const std::uint64_t pairs = counts[probe].of[state][i];
        if (pairs == 0) continue;
        text.sample(pairs, {{"probe", plan.probes[probe].spec.name},
                            {"state", kPairStateNames[state]},
                            {"severity", kSeverityNames[i]}});
      }
    }
  }
}

void verdictMetrics(MetricsText& text, const Verdict& verdict) {
  std::map<std::pair<CulpritKind, Severity>, std::uint64_t> open;
  for (const auto& incident : verdict.open) {
    if (incident->silenced_by == 0) ++open[{incident->culprit.kind, incident->severity}];
  }
  text.family("pingloom_incidents_open", "gauge",
              "Open incidents that no silence hides, by kind and severity.");
  for (const auto& [what, count] : open) {
    text.sample(count, {{"kind", name(what.first)}, {"severity", name(what.second)}});
  }
  text.gauge("pingloom_judged_pairs", "Pairs that the controller judged last.",
             verdict.judged_pairs);
}

void pathMetrics(MetricsText& text, const Board& board) {
  const PathCounts& counts = board.control()->paths;
  const auto map = board.fabric();
  text.gauge("pingloom_controller_paths", "Flows whose path is known.", board.paths().size());
  text.family("pingloom_controller_traces_total", "counter",
              "Paths that agents have reported, by outcome.");
  text.sample(counts.taken, {{"outcome", "taken"}});
  text.sample(counts.ignored, {{"outcome", "ignored"}});
  text.sample(counts.refused, {{"outcome", "refused"}});
  text.counter("pingloom_controller_path_changes_total",
               "Flows that were found on another path than before.", counts.changed);
  text.counter("pingloom_controller_path_changes_folded_total",
               "Of these, the ones that the history has only as the number of another's record.",
               counts.folded);
  text.gauge("pingloom_controller_fabric_switches", "Switches that the known paths show.",
             map->switches.size());
  text.gauge("pingloom_controller_fabric_links",
             "Directions of links between switches that the known paths show.", map->links.size());
}

void burstMetrics(MetricsText& text, const BurstBoard& bursts) {
  text.counter("pingloom_controller_bursts_total", "Bursts started.", bursts.started());
  text.family("pingloom_controller_bursts_refused_total", "counter",
              "Refused requests for bursts, by reason.");
  for (std::size_t i = 0; i < kBurstRefusalNames.size(); ++i) {
    text.sample(bursts.refused(static_cast<BurstRefusal>(i)), {{"reason", kBurstRefusalNames[i]}});
  }
}

void httpMetrics(MetricsText& text, const http::ServerCounters& counters) {
  text.gauge("pingloom_controller_http_connections", "Open HTTP connections, viewers included.",
             counters.connections_open.load());
  text.gauge("pingloom_controller_http_viewers", "Open WebSockets.",
             counters.websockets_open.load());
  text.counter("pingloom_controller_http_connections_accepted_total", "Connections accepted.",
               counters.connections_accepted);
  text.counter("pingloom_controller_http_connections_refused_total",
               "Connections above the limit, answered 503.", counters.connections_refused);
  text.counter("pingloom_controller_http_requests_total", "Requests answered.", counters.requests);
  text.counter("pingloom_controller_http_bad_requests_total",
               "Requests that were malformed, too large, or for another host.",
               counters.requests_bad);
  text.family("pingloom_controller_http_refused_total", "counter",
              "Requests and connections that were refused, by reason.");
  for (std::size_t i = 0; i < http::kRefusalNames.size(); ++i) {
    text.sample(counters.refused[i].load(), {{"reason", http::kRefusalNames[i]}});
  }
  text.counter("pingloom_controller_http_frames_sent_total", "WebSocket messages sent.",
               counters.frames_sent);
  text.counter("pingloom_controller_http_frame_bytes_sent_total",
               "Bytes of WebSocket messages sent.", counters.frame_bytes_sent);
}

}  // namespace

http::Response metrics(const Board& board, const BurstBoard& bursts,
                       const http::ServerCounters& counters, Collectors& collectors) {
  const auto plan = board.plan();
  const auto control = board.control();
  MetricsText text;
  text.family("pingloom_build_info", "gauge", "The program's version.");
  text.sample(1, {{"version", program::version()}});
  if (control->started_utc != 0) {
    text.gauge("pingloom_controller_start_time_seconds",
               "Time at which the controller was started.", seconds(control->started_utc));
  }
  agentMetrics(text, *board.hosts());
  pinglistMetrics(text, *plan, *control);
  resultMetrics(text, *control);
  keyMetrics(text, control->keys);
  storeMetrics(text, *board.redis(), control->history);
  clusterMetrics(text, board.cluster()->asOf(monotonicNow()), *control);
  alertMetrics(text, *board.alerts());
  pairMetrics(text, board, *plan);
  latencyMetrics(text, *board.latency());
  verdictMetrics(text, *board.verdict());
  pathMetrics(text, board);
  burstMetrics(text, bursts);
  collectorMetrics(text, collectors);
  httpMetrics(text, counters);
  text.process();
  http::Response response;
  response.content_type = MetricsText::contentType(MetricsFormat::kPrometheus);
  response.body = text.text();
  return response;
}

}  // namespace pingloom::controller::api
