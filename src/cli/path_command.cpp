// pingloom path: shows the routers that the packets between two addresses pass.
#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <tuple>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "cli/path_report.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "cli/top_source.h"
#include "common/address.h"
#include "common/json_text.h"
#include "common/program.h"
#include "http/url.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr const char* kPathCommand = "pingloom path";
constexpr Nanos kPastChanges = 24 * kHour;
constexpr std::size_t kMaxChanges = 20;

// The address that a name or an address of the controller's hosts stands for. Names are those of
// the pinglist, as /api/v1/grid lists them.
std::optional<std::string> addressIn(const Json& grid, const char* which, const std::string& word) {
  const auto parsed = IpAddress::parse(word);  // which may be written in another form
  const std::string address = parsed ? parsed->text() : word;
  const Json& addresses = listAt(grid, (std::string("/") + which + "s").c_str());
  const Json& names = listAt(grid, (std::string("/") + which + "_names").c_str());
  for (std::size_t i = 0; i < addresses.size() && i < names.size(); ++i) {
    if (addresses[i] == address || names[i] == word) return addresses[i].get<std::string>();
  }
  return std::nullopt;
}

struct Pair {
  std::string source;
  std::string destination;
};

// The changes of one direction that the history has. A controller of an older version has none.
Result<Json> askChanges(const http::Site& site, const std::string& probe, const std::string& from,
                        const std::string& to) {
  const auto answer = askControllerIfKnown(
      site,
      fmt::format("/api/v1/history/paths?probe={}&source={}&destination={}&from={}&limit={}", probe,
                  http::percentEncoded(from), http::percentEncoded(to),
                  formatUtc(utcNow() - kPastChanges), kMaxChanges),
      kAnswerTimeout);
  if (!answer) return tl::unexpected(answer.error());
  return *answer ? listAt(**answer, "/changes") : Json::array();
}

// Asks for the paths of the pair in each probe that has it, or in the one that is named.
Result<std::vector<Json>> askPaths(const http::Site& site, const Pair& pair,
                                   const std::string& only) {
  const auto probes = askControllerJson(site, "/api/v1/probes", kAnswerTimeout);
  if (!probes) return tl::unexpected(probes.error());
  std::vector<Json> found;
  for (const Json& probe : listAt(*probes, "/probes")) {
    const std::string name = textAt(probe, "/name");
    if (!only.empty() && name != only) continue;
    const auto grid =
        askControllerJson(site, "/api/v1/grid?probe=" + name + "&metric=loss", kGridTimeout);
    if (!grid) return tl::unexpected(grid.error());
    const auto source = addressIn(*grid, "source", pair.source);
    const auto destination = addressIn(*grid, "destination", pair.destination);
    if (!source || !destination) continue;
    auto paths = askControllerJson(
        site, fmt::format("/api/v1/paths/{}/{}/{}", name, *source, *destination), kAnswerTimeout);
    if (!paths) return tl::unexpected(paths.error());
    for (const auto& [member, from, to] : {std::tuple("forward_changes", *source, *destination),
                                           std::tuple("return_changes", *destination, *source)}) {
      auto changes = askChanges(site, name, from, to);
      if (!changes) return tl::unexpected(changes.error());
      (*paths)[member] = std::move(*changes);
    }
    found.push_back(std::move(*paths));
  }
  if (!found.empty()) return found;
  return makeError(pair.source + " to " + pair.destination,
                   only.empty() ? "no probe of the pinglist has this pair"
                                : "probe '" + only + "' does not have this pair");
}

}  // namespace

int runPath(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kPathCommand, "pingloom path SOURCE DESTINATION [--probe P] [--label N] [--json] [--url U]",
      "Shows the routers that the packets of a pair pass, in both directions, as the agents have\n"
      "traced them (docs/paths.md), and what changed in the last 24 hours. SOURCE and DESTINATION "
      "are addresses, or names of the "
      "pinglist.\n"
      "Exit: 0 shown, 2 could not ask, or there is no such pair.\n"};
  po::options_description options("Options");
  options.add_options()("source", po::value<std::string>()->required()->value_name("SOURCE"),
                        "where the PINGs start")(
      "destination", po::value<std::string>()->required()->value_name("DESTINATION"),
      "where they go")("probe", po::value<std::string>()->default_value("", ""), "only this probe")(
      "label", po::value<std::uint32_t>(), "only the path with this number, from 1")(
      "json", "print the controller's answer, one line for each probe");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  const auto places = po::positional_options_description().add("source", 1).add("destination", 1);
  if (const auto code = program::parse(usage, arguments, options, places, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kPathCommand, site.error());
  const Pair pair{values["source"].as<std::string>(), values["destination"].as<std::string>()};
  const auto found = askPaths(*site, pair, values["probe"].as<std::string>());
  if (!found) return fail(kPathCommand, found.error());
  std::optional<std::uint32_t> label;
  if (values.count("label") != 0) label = values["label"].as<std::uint32_t>();
  for (const Json& paths : *found) {
    if (values.count("json") != 0) {
      std::cout << jsonLine(paths) << "\n";
      continue;
    }
    for (const std::string& line : pathLines(paths, label)) std::cout << line << "\n";
  }
  return 0;
}

}  // namespace pingloom::cli
