// pingloom top: shows the worst pairs, live or once.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/failure.h"
#include "cli/site_options.h"
#include "cli/top_mesh.h"
#include "cli/top_screen.h"
#include "cli/top_source.h"
#include "common/program.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kTopCommand = "pingloom top";

int printTop(const TopQuery& query, std::size_t limit, bool json) {
  const auto mesh = fetchTopMesh(query, kGridTimeout);
  if (!mesh) return fail(kTopCommand, mesh.error());
  if (json) {
    std::cout << topJson(*mesh, query.sort, limit) << "\n";
    return 0;
  }
  TextTable table(topHeader());
  std::vector<TextTable::Cells> lines;
  for (std::size_t i = 0; i < std::min(limit, mesh->ranked.size()); ++i) {
    lines.push_back(topCells(*mesh, mesh->ranked[i]));
    table.fit(lines.back());
  }
  std::cout << table.header() << "\n";
  for (const auto& line : lines) std::cout << table.line(line) << "\n";
  return 0;
}

}  // namespace

int runTop(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kTopCommand, "pingloom top [--once] [--json] [--sort FIGURE] [--probe P] [-n N] [--url U]",
      "Shows the worst pairs as the controller knows them, live on a terminal.\n"
      "Keys: q quit, s next sort, p pause, / filter, arrows scroll.\n"
      "Exit: 0 shown, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("once", "print one table and end")("json",
                                                           "print one JSON document and end")(
      "sort", po::value<std::string>()->default_value("network_p99"),
      "network_p50, network_p99, rtt, loss or state")(
      "probe", po::value<std::string>()->default_value("", ""), "only this probe")(
      "number,n", po::value<std::size_t>()->default_value(20), "number of pairs (--once, --json)");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const std::string& word = values["sort"].as<std::string>();
  const auto sort = topSortNamed(word);
  if (!sort) {
    return fail(kTopCommand, {"--sort '" + word + "'",
                              "use network_p50, network_p99, rtt, loss or state" +
                                  didYouMean(word, {kTopSortNames.begin(), kTopSortNames.end()})});
  }
  const auto site = controllerSite(values);
  if (!site) return fail(kTopCommand, site.error());
  const TopQuery query{*site, values["probe"].as<std::string>(), *sort, ""};
  const bool json = values.count("json") != 0;
  if (json || values.count("once") != 0) {
    return printTop(query, values["number"].as<std::size_t>(), json);
  }
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
    return fail(kTopCommand, {"", "the live view needs a terminal; use --once or --json"});
  }
  return TopScreen(query).run();
}

}  // namespace pingloom::cli
