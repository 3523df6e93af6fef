#include "controller/model/path_json.h"

#include "common/json_text.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller {
namespace {

using Json = IncidentJson;

Json hopsJson(const TracedPath& path, const RouterNames& names) {
  Json made = Json::array();
  for (const PathHop& hop : path.hops) {
    if (!hop.isKnown()) {
      made.push_back({{"router", nullptr}});
      continue;
    }
    Json entry = {{"router", hop.router.text()}};
    const std::string name = names(hop.router);
    if (!name.empty()) entry["name"] = name;
    entry["rtt_ns"] = hop.rtt;
    made.push_back(std::move(entry));
  }
  return made;
}

Json traceJson(const TracedPath& path, const RouterNames& names) {
  Json made = {{"state", name(path.state())},
               {"end", name(path.end)},
               {"traced", formatUtc(path.traced)},
               {"hops", hopsJson(path, names)}};
  if (path.end == PathEnd::kReached) made["rtt_ns"] = path.destination_rtt;
  if (path.one_connection) made["source_port"] = path.source_port;
  return made;
}

}  // namespace

RouterNames routerNames(const FabricMap& map) {
  return [&map](const IpAddress& router) {
    const std::uint32_t at = map.at(router);
    if (at == FabricMap::kNone) return std::string();
    const FabricMap::Switch& known = map.switches[at];
    return known.named || known.addresses.size() > 1 ? known.name : std::string();
  };
}

std::string pathJson(const KnownPath& known, const RouterNames& names, bool history) {
  Json made = {{"path", known.path.path}};
  made.update(traceJson(known.path, names));
  made["since"] = formatUtc(known.since_utc);
  made["changes"] = known.changes;
  if (known.broken) made["broken"] = traceJson(*known.broken, names);
  if (history) {
    Json before = Json::array();
    for (const TracedPath& earlier : known.before) before.push_back(traceJson(earlier, names));
    made["before"] = std::move(before);
  }
  return jsonLine(made);
}

}  // namespace pingloom::controller
