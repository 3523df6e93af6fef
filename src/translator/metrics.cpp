#include "translator/metrics.h"

#include <string>

namespace pingloom::translator {
namespace {

void reportMetrics(MetricsText& out, const Counters& counters) {
  out.counter("pingloom_translator_datagrams_total", "Datagrams received.", counters.datagrams);
  out.family("pingloom_translator_accepted_total", "counter", "Reports taken, by operation.");
  for (std::size_t i = 0; i < counters.accepted.size(); ++i) {
    const auto operation = static_cast<wire::ReportOperation>(i + 1);
    out.sample(counters.accepted[i], {{"operation", name(operation)}});
  }
  out.family("pingloom_translator_refused_total", "counter",
             "Datagrams and reports refused, by reason.");
  for (std::size_t i = 1; i < counters.refused.size(); ++i) {
    const auto reason = static_cast<wire::ReportRefusal>(i);
    out.sample(counters.refused[i], {{"reason", name(reason)}});
  }
  out.counter("pingloom_translator_lost_total", "Datagrams that never arrived.", counters.lost);
  out.counter("pingloom_translator_nacks_total", "Requests for datagrams that were missing.",
              counters.asked);
  out.counter("pingloom_translator_replies_total",
              "Replies to reporters: credit, and requests for datagrams.", counters.replies);
  out.counter("pingloom_translator_skipped_total", "Reports that reporters dropped themselves.",
              counters.skipped);
  out.counter("pingloom_translator_socket_overflow_total",
              "Datagrams that the kernel dropped because the socket's queue was full.",
              counters.overflow);
  out.counter("pingloom_translator_evicted_total", "Keys that made room for others.",
              counters.evicted);
  out.counter("pingloom_translator_dropped_total",
              "Entries of lists that were dropped because too many were under way.",
              counters.dropped);
  out.gauge("pingloom_translator_reporters", "Reporters that sent something lately.",
            counters.reporters);
  out.counter("pingloom_translator_published_total", "Packets of the published DTA received.",
              counters.published);
  out.counter("pingloom_translator_published_lost_total",
              "Packets of the published DTA that never arrived, by their sequences.",
              counters.published_lost);
}

void storeMetrics(MetricsText& out, const Counters& counters) {
  out.counter("pingloom_translator_writes_total", "RDMA WRITEs posted.", counters.writes);
  out.counter("pingloom_translator_write_bytes_total", "Bytes of these WRITEs.",
              counters.write_bytes);
  out.counter("pingloom_translator_flushes_total",
              "Times that everything changed was written into the store.", counters.flushes);
  out.counter("pingloom_translator_flush_seconds_total",
              "Time that these took, until the collector's memory had everything.",
              static_cast<double>(counters.flush_time) / 1e9);
  out.gauge("pingloom_translator_collector_connected", "Whether the store is being written.",
            counters.connected ? 1 : 0);
  out.counter("pingloom_translator_connects_total", "Connections made to the collector.",
              counters.connects);
  out.counter("pingloom_translator_failures_total",
              "Connections that failed or could not be established.", counters.failures);
}

// Calls use(reporter, Losses) for each configured reporter and for all others.
template <typename Use>
void forEach(const ReporterLosses& losses, Use use) {
  for (const auto& [number, counted] : losses.reporters) use(std::to_string(number), counted);
  use(std::string("other"), losses.other);
}

void reporterMetrics(MetricsText& out, const ReporterLosses& losses) {
  out.family("pingloom_translator_reporter_lost_total", "counter",
             "Datagrams that never arrived, by configured reporter.");
  forEach(losses, [&](const std::string& reporter, const Losses& counted) {
    out.sample(counted.lost, {{"reporter", reporter}});
  });
  out.family("pingloom_translator_reporter_skipped_total", "counter",
             "Reports that reporters dropped themselves, by configured reporter.");
  forEach(losses, [&](const std::string& reporter, const Losses& counted) {
    out.sample(counted.skipped, {{"reporter", reporter}});
  });
  out.family("pingloom_translator_reporter_refused_total", "counter",
             "Datagrams and reports refused, by configured reporter and reason.");
  forEach(losses, [&](const std::string& reporter, const Losses& counted) {
    for (std::size_t i = 1; i < counted.refused.size(); ++i) {
      if (counted.refused[i] == 0) continue;  // of 4,096 reporters and all reasons too many
      const auto reason = static_cast<wire::ReportRefusal>(i);
      out.sample(counted.refused[i], {{"reporter", reporter}, {"reason", name(reason)}});
    }
  });
}

}  // namespace

void writeMetrics(MetricsText& out, const Counters& counters, const ReporterLosses& losses) {
  reportMetrics(out, counters);
  reporterMetrics(out, losses);
  storeMetrics(out, counters);
}

namespace {

http::Response metricsOf(const Counters& counters, const ReporterLosses& losses,
                         const http::Request& request) {
  MetricsText text(MetricsText::formatFor(request.accept));
  writeMetrics(text, counters, losses);
  text.process();
  text.finish();
  http::Response response;
  response.content_type = MetricsText::contentType(text.format());
  response.body = text.text();
  return response;
}

}  // namespace

http::Response answer(const Counters& counters, const ReporterLosses& losses,
                      const http::Request& request) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (request.path == "/metrics") return metricsOf(counters, losses, request);
  if (request.path == "/healthz") {
    http::Response response;
    response.body = counters.connected ? "{\"connected\":true}\n" : "{\"connected\":false}\n";
    return response;
  }
  return http::errorResponse(404, "there are /metrics and /healthz");
}

}  // namespace pingloom::translator
