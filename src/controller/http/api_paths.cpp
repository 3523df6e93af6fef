#include "common/json_text.h"
#include "controller/http/api.h"
#include "controller/http/pair_place.h"
#include "controller/model/path_json.h"

namespace pingloom::controller::api {
namespace {

void appendPaths(std::string& out, std::string_view key, const KnownPaths& paths,
                 const RouterNames& names) {
  appendJsonString(out, key);
  out += ":[";
  for (const auto& known : paths) {
    if (out.back() != '[') out += ',';
    out += pathJson(*known, names, true);
  }
  out += ']';
}

}  // namespace

http::Response paths(const Board& board, std::string_view pair) {
  const auto plan = board.plan();
  auto place = pairPlace(*plan, pair);
  if (!place) return std::move(place.error());
  const ProbeGrid& grid = plan->probes[place->probe];
  const IpAddress& source = grid.sources[place->source];
  const IpAddress& destination = grid.destinations[place->destination];
  const auto map = board.fabric();
  const RouterNames names = routerNames(*map);
  std::string out = "{";
  appendJsonMember(out, "probe", grid.spec.name);
  appendJsonMember(out, "source", source.text());
  appendJsonMember(out, "source_name", plan->nameOf(source));
  appendJsonMember(out, "destination", destination.text());
  appendJsonMember(out, "destination_name", plan->nameOf(destination));
  // The answers take the path of the same number from the destination, which traces it.
  const PathBoard& known = board.paths();
  appendPaths(out, "forward", known.ofPair(grid.spec.name, source, destination), names);
  out += ',';
  appendPaths(out, "return", known.ofPair(grid.spec.name, destination, source), names);
  out += "}\n";
  http::Response response;
  response.body = std::move(out);
  return response;
}

}  // namespace pingloom::controller::api
