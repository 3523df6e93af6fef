// Returns the changes of flows' paths within a range of time.
#include <memory>
#include <utility>

#include "common/json_text.h"
#include "controller/history/path_change_store.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/json_answer.h"
#include "controller/http/past_query.h"
#include "controller/model/grid_plan.h"
#include "controller/model/incident_json.h"
#include "controller/model/path_json.h"

namespace pingloom::controller::api {
namespace {

constexpr std::uint64_t kDefaultPathChanges = 1000;
constexpr std::uint64_t kMaxPathChanges = 10'000;

struct Present {
  std::shared_ptr<const GridPlan> plan;
  std::shared_ptr<const FabricMap> map;
};

Json routersJson(const std::string& routers, const RouterNames& names) {
  Json made = Json::array();
  for (const IpAddress& router : routersIn(routers)) {
    if (router.isUnspecified()) {
      made.push_back({{"router", nullptr}});
      continue;
    }
    Json entry = {{"router", router.text()}};
    if (const std::string name = names(router); !name.empty()) entry["name"] = name;
    made.push_back(std::move(entry));
  }
  return made;
}

Json changeJson(const PathChange& change, const GridPlan& plan, const RouterNames& names) {
  return {{"at", formatUtc(change.utc)},
          {"probe", change.probe},
          {"flows", change.flows},
          {"of", change.of ? Json(change.of->text()) : Json()},
          {"of_name", change.of ? Json(plan.nameOf(*change.of)) : Json()},
          {"source", change.source.text()},
          {"source_name", plan.nameOf(change.source)},
          {"destination", change.destination.text()},
          {"destination_name", plan.nameOf(change.destination)},
          {"path", change.path},
          {"hop", change.hop},
          {"before", routersJson(change.before, names)},
          {"after", routersJson(change.after, names)}};
}

http::Response pathChangesIn(History& history, const Present& present,
                             const PathChangeQuery& query) {
  const auto found = readPathChanges(history.database(), query);
  if (!found) return unreadable(found.error());
  const RouterNames names = routerNames(*present.map);
  Json changes = Json::array();
  for (const PathChange& change : found->changes) {
    changes.push_back(changeJson(change, *present.plan, names));
  }
  http::Response response;
  response.body = jsonLine(Json{{"from", formatUtc(query.from_utc)},
                                {"to", formatUtc(query.until_utc)},
                                {"left_out", found->left_out},
                                {"changes", std::move(changes)}}) +
                  "\n";
  return response;
}

}  // namespace

http::Answer pastPaths(const Board& board, HistoryReader& reader, const http::Request& request) {
  Present present{board.plan(), board.fabric()};
  PathChangeQuery query;
  if (auto refused =
          readPairQuery(*present.plan, request, kDefaultPathChanges, kMaxPathChanges, query)) {
    return std::move(*refused);
  }
  return later(reader, [present = std::move(present), query = std::move(query)](History& history) {
    return pathChangesIn(history, present, query);
  });
}

}  // namespace pingloom::controller::api
