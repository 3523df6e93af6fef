#include "translator/metrics.h"

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
  out.gauge("pingloom_translator_collector_connected", "Whether the store is being written.",
            counters.connected ? 1 : 0);
  out.counter("pingloom_translator_connects_total", "Connections made to the collector.",
              counters.connects);
  out.counter("pingloom_translator_failures_total",
              "Connections that failed or could not be established.", counters.failures);
}

}  // namespace

void writeMetrics(MetricsText& out, const Counters& counters) {
  reportMetrics(out, counters);
  storeMetrics(out, counters);
}

namespace {

http::Response metricsOf(const Counters& counters, const http::Request& request) {
  MetricsText text(MetricsText::formatFor(request.accept));
  writeMetrics(text, counters);
  text.process();
  text.finish();
  http::Response response;
  response.content_type = MetricsText::contentType(text.format());
  response.body = text.text();
  return response;
}

}  // namespace

http::Response answer(const Counters& counters, const http::Request& request) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (request.path == "/metrics") return metricsOf(counters, request);
  if (request.path == "/healthz") {
    http::Response response;
    response.body = counters.connected ? "{\"connected\":true}\n" : "{\"connected\":false}\n";
    return response;
  }
  return http::errorResponse(404, "there are /metrics and /healthz");
}

}  // namespace pingloom::translator
