#include "agent/metrics.h"

#include <utility>

#include "agent/device_metrics.h"
#include "agent/pages_metrics.h"
#include "common/metrics_text.h"
#include "common/program.h"
#include "http/server.h"
#include "translator/metrics.h"

namespace pingloom::agent {
namespace {

constexpr double seconds(std::uint64_t nanos) { return static_cast<double>(nanos) / 1e9; }

void perProtocol(MetricsText& out, const Figures& figures, std::string_view name,
                 std::string_view help, std::uint64_t TransportFigures::*value,
                 std::string_view type = "counter") {
  out.family(name, type, help);
  for (const TransportFigures& transport : figures.transports) {
    out.sample(transport.*value, {{"protocol", transport.protocol}});
  }
}

void writeProbing(MetricsText& out, const Figures& figures) {
  perProtocol(out, figures, "pingloom_agent_pings_sent_total", "Pings sent.",
              &TransportFigures::pings_sent);
  perProtocol(out, figures, "pingloom_agent_pings_skipped_total",
              "Pings not sent because a whole interval was missed or a limit was reached.",
              &TransportFigures::pings_skipped);
  perProtocol(out, figures, "pingloom_agent_pings_answered_total",
              "Pings of other agents answered.", &TransportFigures::pings_answered);
  perProtocol(out, figures, "pingloom_agent_stalls_total",
              "Times that this process did not run when it should have.",
              &TransportFigures::stalls);
  perProtocol(out, figures, "pingloom_agent_targets", "Pairs that this agent probes.",
              &TransportFigures::targets, "gauge");
  out.family("pingloom_agent_packets_dropped_total", "counter", "Packets dropped, by reason.");
  for (const TransportFigures& transport : figures.transports) {
    for (std::size_t i = 0; i < transport.dropped.size(); ++i) {
      out.sample(transport.dropped[i],
                 {{"protocol", transport.protocol}, {"reason", probe::kDropReasonNames[i]}});
    }
  }
  out.family("pingloom_agent_endpoint_packets_dropped_total", "counter",
             "Packets and completions dropped by the RDMA endpoints, by reason.");
  for (const TransportFigures& transport : figures.transports) {
    for (const rdma::DropCount& drop : transport.endpoint_dropped) {
      out.sample(drop.count, {{"protocol", transport.protocol}, {"reason", drop.reason}});
    }
  }
  perProtocol(out, figures, "pingloom_agent_endpoints_lost_total",
              "RDMA endpoints that failed and were created again; the log says why.",
              &TransportFigures::endpoints_lost);
  out.family("pingloom_agent_send_lateness_seconds", "gauge",
             "How long after their scheduled time pings left in the last one to two minutes.");
  for (const TransportFigures& transport : figures.transports) {
    const Summary& late = transport.lateness;
    if (late.count == 0) continue;
    const std::initializer_list<std::pair<std::string_view, std::uint64_t>> statistics = {
        {"p50", late.p50}, {"p95", late.p95}, {"p99", late.p99}, {"max", late.max}};
    for (const auto& [statistic, value] : statistics) {
      out.sample(seconds(value), {{"protocol", transport.protocol}, {"statistic", statistic}});
    }
  }
  out.counter("pingloom_agent_windows_closed_total",
              "Windows closed, one for each probe and source.", figures.windows_closed);
  out.counter("pingloom_agent_windows_dropped_total",
              "Closed windows lost before they were spooled.", figures.windows_dropped);
  out.gauge("pingloom_agent_plan_probes", "Probes of the plan in force.", figures.plan_probes);
}

void writeControl(MetricsText& out, const Figures& figures) {
  const ControlCounters& control = figures.control;
  out.gauge("pingloom_agent_controller_connected", "1 while registered with the controller.",
            figures.registered ? 1 : 0);
  out.counter("pingloom_agent_redirects_total",
              "Times that a controller sent the agent to another one.", control.redirects);
  out.counter("pingloom_agent_registrations_total", "Registrations that the controller accepted.",
              control.registrations);
  out.counter("pingloom_agent_refusals_total", "Refusals by the controller.", control.refusals);
  out.counter("pingloom_agent_connections_lost_total", "Connections to the controller lost.",
              control.connections_lost);
  out.counter("pingloom_agent_handshakes_failed_total",
              "Connections to the controller that failed because of keys; the log says why.",
              control.handshakes_failed);
  out.family("pingloom_agent_control_messages_dropped_total", "counter",
             "Messages of the controller dropped, by reason.");
  out.sample(control.bad_messages, {{"reason", "bad"}});
  out.sample(control.unexpected_messages, {{"reason", "unexpected"}});
  out.counter("pingloom_agent_plans_taken_total", "Plans received and put in force.",
              control.plans_taken);
  out.counter("pingloom_agent_plans_refused_total", "Plans received that could not be applied.",
              control.plans_refused);
  out.counter("pingloom_agent_endpoint_updates_taken_total",
              "Updates of the RDMA endpoint table put in force.", control.endpoint_updates_taken);
  out.counter("pingloom_agent_endpoint_updates_refused_total",
              "Updates of the RDMA endpoint table that could not be applied.",
              control.endpoint_updates_refused);
  out.counter("pingloom_agent_batches_sent_total", "Batches sent, including repetitions.",
              control.batches_sent);
  out.counter("pingloom_agent_batches_resent_total", "Batches sent again.", control.batches_resent);
  out.counter("pingloom_agent_batches_shown_total",
              "Batches sent ahead to be shown at once, because earlier ones wait to be committed.",
              control.batches_shown);
  out.counter("pingloom_agent_batches_acknowledged_total",
              "Batches that the controller has committed.", control.batches_acknowledged);
  if (figures.clock_round_trip) {
    out.gauge("pingloom_agent_controller_round_trip_seconds",
              "Round trip of the heartbeat that determines the controller's clock.",
              static_cast<double>(*figures.clock_round_trip) / 1e9);
  }
}

void writePages(MetricsText& out, const Figures& figures) {
  if (figures.pages) writePageFigures(out, *figures.pages);
  if (!figures.pages_refused) return;
  out.family("pingloom_agent_pages_peers_refused_total", "counter",
             "Connections to the metric pages, and messages on them, refused because of keys.");
  for (std::size_t i = 0; i < figures.pages_refused->size(); ++i) {
    out.sample((*figures.pages_refused)[i], {{"reason", net::kPeerRefusalNames[i]}});
  }
}

void writeEvents(MetricsText& out, const EventCounts& events) {
  out.counter("pingloom_agent_events_reported_total", "Events reported to the translator.",
              events.taken);
  out.family("pingloom_agent_events_lost_total", "counter",
             "Events that did not reach the network, by reason.");
  out.sample(events.suppressed, {{"reason", "rate"}});
  out.sample(events.skipped, {{"reason", "skipped"}});
}

void writeSpool(MetricsText& out, const SpoolStatus& spool) {
  out.gauge("pingloom_agent_spool_batches", "Batches that wait for the controller.", spool.batches);
  out.gauge("pingloom_agent_spool_bytes", "Bytes that wait for the controller.", spool.bytes);
  out.counter("pingloom_agent_spool_dropped_batches_total",
              "Batches dropped because the spool was full.", spool.dropped);
  out.counter("pingloom_agent_spool_damaged_records_total",
              "Spool records that could not be read back.", spool.damaged);
  out.counter("pingloom_agent_spool_truncated_files_total",
              "Spool files that ended within a record.", spool.truncated);
  out.counter("pingloom_agent_spool_write_errors_total",
              "Batches that could not be written to disk.", spool.write_errors);
}

std::string httpText(const http::ServerCounters& counters) {
  MetricsText out;
  out.family("pingloom_agent_http_refused_total", "counter",
             "Requests and connections refused for want of access, by reason.");
  for (std::size_t i = 0; i < counters.refused.size(); ++i) {
    out.sample(counters.refused[i].load(), {{"reason", http::kRefusalNames[i]}});
  }
  return out.text();
}

http::Response respond(const http::Request& request, const FiguresBoard& board,
                       const http::ServerCounters& counters) {
  if (request.path != "/metrics" && request.path != "/healthz") {
    return http::errorResponse(404, "there is /metrics and /healthz");
  }
  if (request.method != "GET") return http::errorResponse(405, "only GET");
  http::Response response;
  if (request.path == "/healthz") {
    response.content_type = "text/plain; charset=utf-8";
    response.body = "ok\n";
  } else {
    response.content_type = MetricsText::contentType(MetricsFormat::kPrometheus);
    MetricsText devices;
    writeDeviceCounters(devices);
    response.body = metricsText(board.read()) + devices.text() + httpText(counters);
  }
  return response;
}

}  // namespace

std::string metricsText(const Figures& figures) {
  MetricsText out;
  out.family("pingloom_agent_info", "gauge", "Version and name of this agent.");
  out.sample(1, {{"version", program::version()}, {"host", figures.host}});
  writeProbing(out, figures);
  writeControl(out, figures);
  writePages(out, figures);
  if (figures.events) writeEvents(out, *figures.events);
  if (figures.translator) {
    translator::writeMetrics(out, *figures.translator, figures.translator_losses);
  }
  writeSpool(out, figures.spool);
  if (figures.counters != nullptr) writeInterfaceCounters(out, *figures.counters);
  out.process();
  return out.text();
}

void LatenessWindow::add(const Distribution& lateness, Nanos now_mono) {
  if (now_mono - turned_mono_ >= kHalf) {
    std::swap(before_, current_);
    current_.clear();
    turned_mono_ = now_mono;
  }
  current_.merge(lateness);
}

Summary LatenessWindow::summary() const {
  Distribution all = before_;
  all.merge(current_);
  return all.summary();
}

void FiguresBoard::publish(Figures figures) {
  const std::lock_guard lock(mutex_);
  std::swap(figures_, figures);
}

Figures FiguresBoard::read() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

Result<std::unique_ptr<http::Server>> serveFigures(const SocketAddress& listen,
                                                   std::shared_ptr<http::Access> access,
                                                   const FiguresBoard& board) {
  http::ServerOptions options;
  options.listen = listen;
  options.limits.connections = 32;
  options.limits.connections_of_source = 16;
  options.access = std::move(access);
  options.needs = [](const http::Request& request) {
    return request.path == "/healthz" ? http::Role::kNone : http::usualNeeds(request);
  };
  return http::Server::start(options,
                             [&board, counters = options.counters](const http::Request& request) {
                               return respond(request, board, *counters);
                             });
}

}  // namespace pingloom::agent
