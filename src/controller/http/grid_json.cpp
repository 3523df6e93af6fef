#include "controller/http/grid_json.h"

#include "controller/http/cells.h"
#include "http/json_text.h"

namespace pingloom::controller::api {
namespace {

using http::appendJsonNumber;
using http::appendJsonString;

// A grid of 2,000 x 2,000 has 4 million cells: everything below appends to one string.

void appendAddresses(std::string& out, const plan::AddressList& list) {
  char separator = '[';
  for (const IpAddress& address : list) {
    out += separator;
    appendJsonString(out, address.text());
    separator = ',';
  }
  out += list.empty() ? "[]" : "]";
}

void appendNames(std::string& out, const plan::AddressList& list,
                 const pinglist::Pinglist* pinglist) {
  char separator = '[';
  for (const IpAddress& address : list) {
    out += separator;
    appendJsonString(out, pinglist == nullptr ? address.text() : pinglist->nameOf(address));
    separator = ',';
  }
  out += list.empty() ? "[]" : "]";
}

void appendValue(std::string& out, const Metric& metric, const Row* row) {
  if (!metric.append(out, row)) out += "null";
}

void appendState(std::string& out, std::optional<PairState> state) {
  if (!state) {
    out += "null";
    return;
  }
  out += '"';
  out += name(*state);
  out += '"';
}

// [[...],...], one array per source; `cell` appends one element.
template <typename Cell>
void appendMatrix(std::string& out, const ProbeGrid& grid, Cell cell) {
  out += '[';
  for (std::size_t source = 0; source < grid.sources.size(); ++source) {
    if (source != 0) out += ',';
    out += '[';
    for (std::size_t destination = 0; destination < grid.destinations.size(); ++destination) {
      if (destination != 0) out += ',';
      cell(source, destination);
    }
    out += ']';
  }
  out += ']';
}

// The newest window that any source reported.
void appendWindow(std::string& out, const Snapshots& snapshots) {
  const SourceRows* newest = nullptr;
  for (const auto& snapshot : snapshots) {
    if (snapshot == nullptr || snapshot->rows == nullptr) continue;
    const SourceRows* rows = snapshot->rows.get();
    if (newest == nullptr || rows->window_start_utc > newest->window_start_utc) newest = rows;
  }
  if (newest == nullptr) {
    out += "null";
    return;
  }
  out += R"({"start":)";
  appendJsonString(out, formatUtc(newest->window_start_utc));
  out += R"(,"end":)";
  appendJsonString(out, formatUtc(newest->window_start_utc + newest->window));
  out += '}';
}

}  // namespace

std::string gridJson(const GridPlan& plan, std::uint32_t probe, const Metric& metric,
                     std::string_view metric_name, const Snapshots& snapshots) {
  const ProbeGrid& grid = plan.probes[probe];
  const pinglist::Pinglist* pinglist = plan.pinglist.get();

  std::string out;
  out.reserve(4096 + grid.sources.size() * grid.destinations.size() * 12);
  out += R"({"probe":)";
  appendJsonString(out, grid.spec.name);
  out += R"(,"protocol":)";
  appendJsonString(out, name(grid.spec.protocol));
  out += R"(,"metric":)";
  appendJsonString(out, metric_name);
  out += R"(,"unit":)";
  appendJsonString(out, metric.unit());
  out += R"(,"generation":)";
  appendJsonNumber(out, plan.generation);
  out += R"(,"window":)";
  appendWindow(out, snapshots);
  out += R"(,"sources":)";
  appendAddresses(out, grid.sources);
  out += R"(,"source_names":)";
  appendNames(out, grid.sources, pinglist);
  out += R"(,"destinations":)";
  appendAddresses(out, grid.destinations);
  out += R"(,"destination_names":)";
  appendNames(out, grid.destinations, pinglist);
  out += R"(,"values":)";
  appendMatrix(out, grid, [&](std::size_t source, std::size_t destination) {
    appendValue(out, metric, rowOf(snapshots[source].get(), destination));
  });
  out += R"(,"states":)";
  appendMatrix(out, grid, [&](std::size_t source, std::size_t destination) {
    appendState(out, stateOf(grid, snapshots[source].get(), source, destination));
  });
  out += "}\n";
  return out;
}

}  // namespace pingloom::controller::api
