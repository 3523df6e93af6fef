#include "agent/pages_metrics.h"

namespace pingloom::agent {

void writePageFigures(MetricsText& out, const pages::PageFigures& figures) {
  out.gauge("pingloom_agent_pages", "Metric pages that applications use.", figures.pages);
  out.gauge("pingloom_agent_pages_owners", "Connections of registered applications.",
            figures.owners);
  out.gauge("pingloom_agent_pages_readers", "Collectors that may read the pages.", figures.readers);
  out.family("pingloom_agent_pages_refused_total", "counter",
             "Requests of applications that were refused, by reason.");
  const auto& refused = figures.registration.refused;
  for (std::size_t i = 1; i < refused.size(); ++i) {
    out.sample(refused[i], {{"reason", pages::kRefusalNames[i]}});
  }
  out.counter("pingloom_agent_pages_connections_refused_total",
              "Connections of applications refused because of the limits.",
              figures.registration.connections_refused);
  out.family("pingloom_agent_pages_control_refused_total", "counter",
             "Requests of collectors that were refused, by reason.");
  const pages::PageServerCounters& server = figures.server;
  const auto control = [&](std::string_view reason, std::uint64_t count) {
    out.sample(count, {{"reason", reason}});
  };
  control("malformed", server.malformed);
  control("version", server.version);
  control("not_connected", server.unknown);
  control("too_many", server.full);
  control("elsewhere", server.elsewhere);
  control("device", server.device);
  control("revoked", server.revoked);
  control("flood", server.flood);
}

}  // namespace pingloom::agent
