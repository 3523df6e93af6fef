#include <fmt/format.h>

#include <map>
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

}  // namespace

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
  http::Response response;
  response.body = jsonLine(Json{{"paths", board.paths().size()},
                                {"merged", map->merged},
                                {"switches", std::move(switches)},
                                {"links", std::move(links)}}) +
                  "\n";
  return response;
}

}  // namespace pingloom::controller::api
