#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/json_text.h"
#include "controller/http/api.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller::api {
namespace {

using Json = IncidentJson;

Json switchJson(const FabricMap::Switch& each) {
  Json addresses = Json::array();
  for (const IpAddress& address : each.addresses) addresses.push_back(address.text());
  return {{"name", each.name},
          {"tier", each.tier},
          {"named", each.named},
          {"addresses", std::move(addresses)}};
}

// The ids of open incidents, by the name of the link, cable or switch that they accuse.
using Accused = std::map<Culprit, std::uint64_t>;

Accused accusedIn(const Verdict& verdict) {
  Accused accused;
  for (const auto& incident : verdict.open) accused[incident->culprit] = incident->id;
  return accused;
}

Json incidentAt(const Accused& accused, CulpritKind kind, const std::string& name) {
  const auto found = accused.find({kind, name});
  return found == accused.end() ? Json() : Json(std::to_string(found->second));
}

Json linkIncident(const Accused& accused, const std::string& from, const std::string& to) {
  Json link = incidentAt(accused, CulpritKind::kLink, fmt::format("{} -> {}", from, to));
  if (!link.is_null()) return link;
  for (const auto& [lower, upper] : {std::pair(from, to), std::pair(to, from)}) {
    Json found = incidentAt(accused, CulpritKind::kCable, fmt::format("{} - {}", lower, upper));
    if (!found.is_null()) return found;
  }
  return {};
}

Json coverJson(const FabricCover::Probe& probe) {
  Json few = Json::array();
  for (const FabricCover::Link& link : probe.few) {
    few.push_back({{"from", link.from},
                   {"to", link.to},
                   {"flows", link.flows},
                   {"state", plan::name(link.state)}});
  }
  return {{"probe", probe.name},  {"cover", probe.cover},     {"flows", probe.flows},
          {"links", probe.links}, {"covered", probe.covered}, {"pairs", probe.pairs},
          {"few", std::move(few)}};
}

constexpr std::size_t kMaxFlows = 200;  // listed; all are counted

std::optional<std::uint32_t> switchNamed(const FabricMap& map, const std::string& name) {
  const auto found = std::find_if(map.switches.begin(), map.switches.end(),
                                  [&](const FabricMap::Switch& each) { return each.name == name; });
  if (found == map.switches.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - map.switches.begin());
}

// Whether a path goes through `from`, and from there directly to `to`, unless that is `from` too.
bool crosses(const FabricMap& map, const TracedPath& path, std::uint32_t from, std::uint32_t to) {
  std::uint32_t before = FabricMap::kNone;
  for (const PathHop& hop : path.hops) {
    const std::uint32_t here = hop.isKnown() ? map.at(hop.router) : FabricMap::kNone;
    if (from == to ? here == from : before == from && here == to) return true;
    before = here;
  }
  return false;
}

Json flowJson(const GridPlan& plan, const TracedPath& path) {
  return {{"probe", path.probe},
          {"source", path.source.text()},
          {"source_name", plan.nameOf(path.source)},
          {"destination", path.destination.text()},
          {"destination_name", plan.nameOf(path.destination)},
          {"path", path.path}};
}

}  // namespace

http::Response fabricFlows(const Board& board, const http::Request& request) {
  const auto named = [&](const char* key) {
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
  };
  const std::string one = named("switch");
  const std::string from_name = one.empty() ? named("from") : one;
  const std::string to_name = one.empty() ? named("to") : one;
  if (from_name.empty() || to_name.empty() ||
      (!one.empty() && (request.query.contains("from") || request.query.contains("to")))) {
    return http::errorResponse(400, "name a switch, or a link with from and to");
  }
  const auto map = board.fabric();
  const auto from = switchNamed(*map, from_name);
  const auto to = switchNamed(*map, to_name);
  const auto plan = board.plan();
  Json listed = Json::array();
  std::uint64_t flows = 0;
  for (const auto& known : board.paths().all()) {
    if (!from || !to || !crosses(*map, known->path, *from, *to)) continue;
    if (++flows <= kMaxFlows) listed.push_back(flowJson(*plan, known->path));
  }
  http::Response response;
  response.body = jsonLine(Json{{"flows", flows}, {"listed", std::move(listed)}}) + "\n";
  return response;
}

http::Response fabric(const Board& board) {
  const auto map = board.fabric();
  const Accused accused = accusedIn(*board.verdict());
  Json switches = Json::array();
  for (const FabricMap::Switch& each : map->switches) {
    switches.push_back(switchJson(each));
    switches.back()["incident"] = incidentAt(accused, CulpritKind::kSwitch, each.name);
  }
  Json links = Json::array();
  for (const FabricMap::Link& link : map->links) {
    const std::string& from = map->switches[link.from].name;
    const std::string& to = map->switches[link.to].name;
    links.push_back({{"from", from},
                     {"to", to},
                     {"flows", link.flows},
                     {"incident", linkIncident(accused, from, to)}});
  }
  Json cover = Json::array();
  for (const FabricCover::Probe& probe : board.cover()->probes) cover.push_back(coverJson(probe));
  http::Response response;
  response.body = jsonLine(Json{{"paths", board.paths().size()},
                                {"merged", map->merged},
                                {"switches", std::move(switches)},
                                {"links", std::move(links)},
                                {"cover", std::move(cover)}}) +
                  "\n";
  return response;
}

}  // namespace pingloom::controller::api
