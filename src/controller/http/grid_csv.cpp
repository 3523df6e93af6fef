#include "controller/http/cells.h"
#include "controller/http/csv.h"
#include "controller/http/grid_json.h"

namespace pingloom::controller::api {
namespace {

// "ADDRESS,NAME,": made once for each host, used for each of its pairs.
std::vector<std::string> placesOf(const plan::AddressList& list,
                                  const pinglist::Pinglist* pinglist) {
  std::vector<std::string> places;
  places.reserve(list.size());
  for (const IpAddress& address : list) {
    std::string& place = places.emplace_back(address.text() + ',');
    appendCsvField(place, pinglist == nullptr ? address.text() : pinglist->nameOf(address));
    place += ',';
  }
  return places;
}

}  // namespace

std::string gridCsv(const GridPlan& plan, std::uint32_t probe, const Metric& metric,
                    std::string_view metric_name, const Snapshots& snapshots) {
  constexpr std::size_t kUsualLine = 64;
  const ProbeGrid& grid = plan.probes[probe];
  const auto sources = placesOf(grid.sources, plan.pinglist.get());
  const auto destinations = placesOf(grid.destinations, plan.pinglist.get());
  std::string out = "source,source_name,destination,destination_name,state,";
  out.append(metric_name).append("_").append(metric.unit()).append("\r\n");
  out.reserve(out.size() + sources.size() * destinations.size() * kUsualLine);
  for (std::size_t source = 0; source < sources.size(); ++source) {
    const SourceSnapshot* snapshot = snapshots[source].get();
    for (std::size_t destination = 0; destination < destinations.size(); ++destination) {
      const auto state = stateOf(grid, snapshot, source, destination);
      if (!state) continue;
      out.append(sources[source]).append(destinations[destination]).append(name(*state));
      out += ',';
      metric.append(out, rowOf(snapshot, destination));
      out += "\r\n";
    }
  }
  return out;
}

}  // namespace pingloom::controller::api
