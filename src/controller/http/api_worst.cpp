#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "common/json_text.h"
#include "common/severity.h"
#include "common/text.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"

namespace pingloom::controller::api {
namespace {

using Snapshots = std::vector<std::shared_ptr<const SourceSnapshot>>;

constexpr std::uint64_t kDefaultPairs = 100;
constexpr std::uint64_t kMaxCount = 10'000;

enum class SortColumn : std::uint8_t { kSeverity, kState, kValue, kSource, kDestination };
constexpr std::array<std::string_view, 5> kColumns = {"severity", "state", "value", "source",
                                                      "destination"};

// "value" sorts in ascending order, "-value" in descending order.
struct Sort {
  SortColumn by = SortColumn::kSeverity;
  bool down = true;
};

struct Candidate {
  double key = 0;     // the smallest key comes first
  int severity = 0;   // what is judged; a pair that is not judged is as well as one that is ok
  int state = 0;      // by how much it deserves attention
  double value = -1;  // -1 means not measured
  std::uint32_t source = 0;
  std::uint32_t destination = 0;

  // The smaller candidate is listed first.
  bool operator<(const Candidate& other) const {
    return std::tuple(key, -severity, -state, -value, source, destination) <
           std::tuple(other.key, -other.severity, -other.state, -other.value, other.source,
                      other.destination);
  }
};

// Returns each host's place in the order of names.
std::vector<double> nameOrder(const plan::AddressList& list, const GridPlan& plan) {
  std::vector<std::pair<std::string, std::size_t>> named;
  for (std::size_t i = 0; i < list.size(); ++i) named.emplace_back(plan.nameOf(list[i]), i);
  std::sort(named.begin(), named.end());
  std::vector<double> places(list.size());
  for (std::size_t at = 0; at < named.size(); ++at) {
    places[named[at].second] = static_cast<double>(at);
  }
  return places;
}

// Computes the key of a candidate.
class SortKey {
 public:
  SortKey(const Sort& sort, const GridPlan& plan, const ProbeGrid& grid) : sort_(sort) {
    if (sort.by == SortColumn::kSource) places_ = nameOrder(grid.sources, plan);
    if (sort.by == SortColumn::kDestination) places_ = nameOrder(grid.destinations, plan);
  }

  double of(const Candidate& pair) const {
    // Pairs without a measurement come last in either order.
    if (sort_.by == SortColumn::kValue && pair.value < 0)
      return std::numeric_limits<double>::infinity();
    const double key = ascending(pair);
    return sort_.down ? -key : key;
  }

 private:
  double ascending(const Candidate& pair) const {
    switch (sort_.by) {
      case SortColumn::kValue:
        return pair.value;
      case SortColumn::kSource:
        return places_[pair.source];
      case SortColumn::kDestination:
        return places_[pair.destination];
      case SortColumn::kState:
        return pair.state;
      case SortColumn::kSeverity:
        break;
    }
    return pair.severity;
  }

  const Sort sort_;
  std::vector<double> places_;
};

int judgedRank(const SourceSnapshot* snapshot, std::uint32_t destination) {
  const Severity judged = snapshot == nullptr ? Severity::kNone : snapshot->severityOf(destination);
  return static_cast<int>(std::max(judged, Severity::kOk));
}

struct Chosen {
  std::vector<Candidate> pairs;
  std::uint64_t total = 0;  // all pairs of the probe
};

// Returns the first `count` of all pairs in the order of the keys. It keeps only candidates for
// these places, because a probe may have millions of pairs.
Chosen worstOf(const ProbeGrid& grid, const Metric& metric, const SortKey& key,
               const Snapshots& snapshots, std::size_t count) {
  Chosen chosen;
  auto& worst = chosen.pairs;  // a heap with the candidate to be dropped next on top
  for (std::uint32_t source = 0; source < grid.sources.size(); ++source) {
    const SourceSnapshot* snapshot = snapshots[source].get();
    for (std::uint32_t destination = 0; destination < grid.destinations.size(); ++destination) {
      const auto state = stateOf(grid, snapshot, source, destination);
      if (!state) continue;
      ++chosen.total;
      const MetricValue value = metric.of(rowOf(snapshot, destination));
      Candidate candidate{0,
                          judgedRank(snapshot, destination),
                          severity(*state),
                          value.measured() ? value.number() : -1,
                          source,
                          destination};
      candidate.key = key.of(candidate);
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
  return chosen;
}

void appendPair(std::string& out, const GridPlan& plan, const GridQuery& query,
                const Snapshots& snapshots, const Candidate& pair) {
  const ProbeGrid& grid = plan.probes[query.probe];
  const IpAddress& source = grid.sources[pair.source];
  const IpAddress& destination = grid.destinations[pair.destination];
  const SourceSnapshot* snapshot = snapshots[pair.source].get();
  out += '{';
  appendJsonMember(out, "source", source.text());
  appendJsonMember(out, "source_name", plan.nameOf(source));
  appendJsonMember(out, "destination", destination.text());
  appendJsonMember(out, "destination_name", plan.nameOf(destination));
  appendJsonMember(out, "state", name(*stateOf(grid, snapshot, pair.source, pair.destination)));
  appendJsonMember(
      out, "severity",
      name(snapshot == nullptr ? Severity::kNone : snapshot->severityOf(pair.destination)));
  out += R"("value":)";
  appendValue(out, query.metric, query.metric.of(rowOf(snapshot, pair.destination)));
  out += '}';
}

tl::expected<std::uint64_t, http::Response> countOption(const http::Request& request) {
  const auto given = request.query.find("count");
  if (given == request.query.end()) return kDefaultPairs;
  const auto number = parseUnsigned(given->second, kMaxCount);
  if (number && *number > 0) return *number;
  return tl::unexpected(http::errorResponse(
      400, fmt::format("the parameter 'count' must be a number from 1 to {}", kMaxCount)));
}

tl::expected<Sort, http::Response> sortOption(const http::Request& request) {
  const auto given = request.query.find("sort");
  if (given == request.query.end()) return Sort();
  std::string_view column = given->second;
  const bool down = column.starts_with('-');
  if (down) column.remove_prefix(1);
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (kColumns[i] == column) return Sort{static_cast<SortColumn>(i), down};
  }
  return tl::unexpected(http::errorResponse(400,
                                            "the parameter 'sort' must be severity, state, value, "
                                            "source or destination, with a leading '-' for "
                                            "descending order"));
}

std::string headOf(const GridPlan& plan, const GridQuery& query, const Sort& sort,
                   std::uint64_t total) {
  std::string out = "{";
  appendJsonMember(out, "probe", plan.probes[query.probe].spec.name);
  appendJsonMember(out, "metric", query.metric_name);
  appendJsonMember(out, "unit", query.metric.unit());
  out += fmt::format(R"("generation":{},"sort":"{}{}","total":{},"pairs":[)", plan.generation,
                     sort.down ? "-" : "", kColumns[static_cast<std::size_t>(sort.by)], total);
  return out;
}

}  // namespace

http::Response worst(const Board& board, const http::Request& request) {
  const auto plan = board.plan();
  const auto query = gridQuery(*plan, request);
  if (!query) return query.error();
  const auto count = countOption(request);
  if (!count) return count.error();
  const auto sort = sortOption(request);
  if (!sort) return sort.error();
  const ProbeGrid& grid = plan->probes[query->probe];
  Snapshots snapshots = board.sources(query->probe, plan->generation);
  snapshots.resize(grid.sources.size());  // the board has none just after a change of the plan
  const Chosen chosen =
      worstOf(grid, query->metric, SortKey(*sort, *plan, grid), snapshots, *count);
  http::Response response;
  std::string& out = response.body;
  out = headOf(*plan, *query, *sort, chosen.total);
  for (const Candidate& pair : chosen.pairs) {
    if (out.back() == '}') out += ',';
    appendPair(out, *plan, *query, snapshots, pair);
  }
  out += "]}\n";
  return response;
}

}  // namespace pingloom::controller::api
