#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/severity.h"
#include "common/text.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "http/json_text.h"

namespace pingloom::controller::api {
namespace {

using Snapshots = std::vector<std::shared_ptr<const SourceSnapshot>>;

constexpr std::uint64_t kDefaultPairs = 100;
constexpr std::uint64_t kMostCount = 10'000;

struct Candidate {
  int severity = 0;
  double value = -1;  // -1: not measured
  std::uint32_t source = 0;
  std::uint32_t destination = 0;

  // The one that is listed first.
  bool operator<(const Candidate& other) const {
    return std::tuple(-severity, -value, source, destination) <
           std::tuple(-other.severity, -other.value, other.source, other.destination);
  }
};

// The first `count` of the list of all pairs. Millions are looked at: only what may still be among
// them is kept.
std::vector<Candidate> worstOf(const ProbeGrid& grid, const Metric& metric,
                               const Snapshots& snapshots, std::size_t count) {
  std::vector<Candidate> worst;  // a heap: the one that would go next is on top
  for (std::uint32_t source = 0; source < grid.sources.size(); ++source) {
    const SourceSnapshot* snapshot = snapshots[source].get();
    for (std::uint32_t destination = 0; destination < grid.destinations.size(); ++destination) {
      const auto state = stateOf(grid, snapshot, source, destination);
      if (!state) continue;
      const Candidate candidate{severity(*state),
                                metric.valueOf(rowOf(snapshot, destination)).value_or(-1), source,
                                destination};
      if (worst.size() == count) {
        if (!(candidate < worst.front())) continue;
        std::pop_heap(worst.begin(), worst.end());
        worst.pop_back();
      }
      worst.push_back(candidate);
      std::push_heap(worst.begin(), worst.end());
    }
  }
  std::sort_heap(worst.begin(), worst.end());
  return worst;
}

void appendPair(std::string& out, const GridPlan& plan, const GridQuery& query,
                const Snapshots& snapshots, const Candidate& pair) {
  const ProbeGrid& grid = plan.probes[query.probe];
  const IpAddress& source = grid.sources[pair.source];
  const IpAddress& destination = grid.destinations[pair.destination];
  const SourceSnapshot* snapshot = snapshots[pair.source].get();
  out += '{';
  http::appendJsonMember(out, "source", source.text());
  http::appendJsonMember(out, "source_name", plan.nameOf(source));
  http::appendJsonMember(out, "destination", destination.text());
  http::appendJsonMember(out, "destination_name", plan.nameOf(destination));
  http::appendJsonMember(out, "state",
                         name(*stateOf(grid, snapshot, pair.source, pair.destination)));
  out += R"("value":)";
  appendValue(out, query.metric, query.metric.of(rowOf(snapshot, pair.destination)));
  out += '}';
}

}  // namespace

http::Response worst(const Board& board, const http::Request& request) {
  const auto plan = board.plan();
  const auto query = gridQuery(*plan, request);
  if (!query) return query.error();
  std::uint64_t count = kDefaultPairs;
  if (const auto given = request.query.find("count"); given != request.query.end()) {
    const auto number = parseUnsigned(given->second, kMostCount);
    if (!number || *number == 0) {
      return http::errorResponse(
          400, fmt::format("the parameter 'count' is a number from 1 to {}", kMostCount));
    }
    count = *number;
  }
  const ProbeGrid& grid = plan->probes[query->probe];
  Snapshots snapshots = board.sources(query->probe, plan->generation);
  snapshots.resize(grid.sources.size());  // empty when the plan has just changed
  http::Response response;
  std::string& out = response.body;
  out = '{';
  http::appendJsonMember(out, "probe", grid.spec.name);
  http::appendJsonMember(out, "metric", query->metric_name);
  http::appendJsonMember(out, "unit", query->metric.unit());
  out += R"("generation":)";
  http::appendJsonNumber(out, plan->generation);
  out += R"(,"pairs":[)";
  for (const Candidate& pair : worstOf(grid, query->metric, snapshots, count)) {
    if (out.back() == '}') out += ',';
    appendPair(out, *plan, *query, snapshots, pair);
  }
  out += "]}\n";
  return response;
}

}  // namespace pingloom::controller::api
