// pingloom mesh: shows every probe's mesh as a table, and with --check tells whether each pair has
// a fresh result.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/site_options.h"
#include "cli/text_table.h"
#include "cli/top_source.h"
#include "common/duration.h"
#include "common/program.h"
#include "common/time.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kMeshCommand = "pingloom mesh";

// Returns the median network time, with the loss and what is judged to be wrong if there is any, or
// the state if there is no time.
std::string cellText(const TopGrid& grid, std::size_t cell) {
  const auto state = grid.states[cell];
  if (!state) return ".";
  const auto network = grid.figure(TopSort::kNetworkP50, cell);
  const auto loss = grid.figure(TopSort::kLoss, cell);
  const bool current = *state != PairState::kStale && *state != PairState::kPending;
  const auto judged = grid.severity(cell);
  const std::string wrong =
      judged && *judged > Severity::kOk ? " " + std::string(name(*judged)) : "";
  if (!network || !current) return std::string(name(*state)) + wrong;
  std::string text = humanNanos(static_cast<Nanos>(*network));
  if (loss && *loss > 0) text += fmt::format(" -{:.3g}%", *loss * 100);
  return text + wrong;
}

// Each destination is a column under its number; the rows tell which host has which number.
void printGrid(const TopGrid& grid) {
  std::cout << "\n"
            << printable(grid.probe)
            << ": median network time, and loss and severity where there are any\n";
  TextTable::Cells header = {"", "FROM \\ TO"};
  for (std::size_t i = 0; i < grid.destinations.size(); ++i) {
    header.push_back(std::to_string(i + 1));
  }
  TextTable table(header);
  std::vector<TextTable::Cells> lines;
  for (std::size_t row = 0; row < grid.sources.size(); ++row) {
    TextTable::Cells line = {"", printable(grid.sources[row])};
    for (std::size_t column = 0; column < grid.destinations.size(); ++column) {
      if (grid.destinations[column] == grid.sources[row]) line[0] = std::to_string(column + 1);
      line.push_back(cellText(grid, row * grid.destinations.size() + column));
    }
    table.fit(line);
    lines.push_back(std::move(line));
  }
  std::cout << table.header() << "\n";
  for (const auto& line : lines) std::cout << table.line(line) << "\n";
  if (grid.sources != grid.destinations) {
    for (std::size_t i = 0; i < grid.destinations.size(); ++i) {
      std::cout << "  column " << i + 1 << " is " << printable(grid.destinations[i]) << "\n";
    }
  }
}

// An rtt proves that something was received. Without one the row decides, because every exchange
// that was received may be anomalous.
bool hasFreshResult(const http::Site& site, const TopGrid& grid, std::size_t row,
                    std::size_t column) {
  const std::size_t cell = row * grid.destinations.size() + column;
  const PairState state = *grid.states[cell];
  if (state == PairState::kPending || state == PairState::kStale) return false;
  if (grid.figure(TopSort::kRtt, cell)) return true;
  const auto pair = askControllerJson(
      site,
      "/api/v1/pairs/" + grid.probe + "/" + grid.sources[row] + "/" + grid.destinations[column],
      kGridTimeout);
  if (!pair) return false;
  const nlohmann::json::json_pointer received("/received");
  return pair->contains(received) && (*pair)[received].is_number_unsigned() &&
         (*pair)[received].get<std::uint64_t>() > 0;
}

struct Check {
  std::size_t pairs = 0;
  std::size_t failed = 0;
};

void checkGrid(const http::Site& site, const TopGrid& grid, Check& check) {
  for (std::size_t row = 0; row < grid.sources.size(); ++row) {
    for (std::size_t column = 0; column < grid.destinations.size(); ++column) {
      const auto state = grid.states[row * grid.destinations.size() + column];
      if (!state) continue;
      ++check.pairs;
      if (hasFreshResult(site, grid, row, column)) continue;
      ++check.failed;
      std::cout << "no fresh result: " << printable(grid.probe) << " "
                << printable(grid.sources[row]) << " -> " << printable(grid.destinations[column])
                << " (" << name(*state) << ")\n";
    }
  }
}

int printVerdict(const Check& check) {
  std::cout << "\n"
            << check.pairs - check.failed << " of " << check.pairs
            << " pairs have a fresh result\n";
  return check.failed == 0 && check.pairs > 0 ? 0 : kExitNotFresh;
}

}  // namespace

int runMesh(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kMeshCommand, "pingloom mesh [--probe P] [--check] [--url U]",
      "Prints each probe's mesh: hosts as rows and columns, median network time, loss,\n"
      "and the severity of pairs that are judged to be slow, very slow, lossy or down.\n"
      "Exit: 0 shown; with --check 1 unless every pair has a fresh result with something received; "
      "2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("probe", po::value<std::string>()->default_value("", ""),
                        "only this probe")(
      "check", "name the pairs without a fresh result, and exit 1 if there are any");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kMeshCommand, site.error());
  const std::string& only = values["probe"].as<std::string>();
  const auto probes = fetchProbeNames(*site, kGridTimeout);
  if (!probes) return fail(kMeshCommand, probes.error());
  Check check;
  for (const std::string& probe : *probes) {
    if (!only.empty() && probe != only) continue;
    const auto grid = fetchTopGrid(*site, probe, kGridTimeout);
    if (!grid) return fail(kMeshCommand, grid.error());
    printGrid(*grid);
    if (values.count("check") != 0) checkGrid(*site, *grid, check);
  }
  return values.count("check") != 0 ? printVerdict(check) : 0;
}

}  // namespace pingloom::cli
