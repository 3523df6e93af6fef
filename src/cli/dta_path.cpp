// pingloom dta path: shows the paths between two hosts.
#include <fmt/format.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/json_text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

std::string rttText(const nlohmann::json& hop) {
  const auto& rtt = fieldAt(hop, "/rtt_seconds");
  return rtt.is_number() ? fmt::format("  {:.1f} us", rtt.get<double>() * 1e6) : "";
}

void printPath(const nlohmann::json& path) {
  const auto& age = fieldAt(path, "/age_seconds");
  std::cout << fmt::format("{}\n  {}, {} changes, stored {} s ago by {}{}\n", shownAt(path, "/key"),
                           fieldAt(path, "/complete") == true ? "complete" : "partial",
                           shownAt(path, "/changes"),
                           age.is_number() ? fmt::format("{:.1f}", age.get<double>()) : "?",
                           shownAt(path, "/translator"),
                           fieldAt(path, "/stale") == true ? "; its writer is silent" : "");
  int number = 0;
  for (const auto& hop : listAt(path, "/path")) {
    ++number;
    std::cout << (hop.is_null() ? fmt::format("  {:>2}  *\n", number)
                                : fmt::format("  {:>2}  {}{}\n", number, shownAt(hop, "/address"),
                                              rttText(hop)));
  }
}

}  // namespace

int dtaPath(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "path", "SRC DST [--sport N] [--file FILE | --rdma HOST] [--json] [--url U]",
      "Shows the paths of the UDP flows from one address to another at port 4791, hop\n"
      "by hop with the time to it and back, in all tables of paths. Without --sport\n"
      "these are the flows from all source ports of RoCE. A single KEY in the place of\n"
      "SRC DST, such as tuple:10.0.0.1:49152>10.0.1.1:4791/udp, chooses one flow.\n"
      "Exit: 0 shown; 1 no path was found; 2 could not ask.\n");
  action.takesArguments("ARGUMENT", "the two addresses, or a key");
  addDtaOptions(action.options);
  action.options.add_options()("sport", po::value<std::string>(), "the flow's source port");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& places = values[action.positional].as<std::vector<std::string>>();
  if (places.size() > 2) return usageError(kDtaCommand, {"path", "needs SRC and DST, or a KEY"});
  collector::PathTexts texts;
  (places.size() == 2 ? texts.source : texts.key) = places[0];
  if (places.size() == 2) texts.destination = places[1];
  if (values.count("sport") != 0) texts.source_port = values["sport"].as<std::string>();
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  const auto found = fetchPaths(*source, texts);
  if (!found) return fail(kDtaCommand, found.error());
  const auto& paths = listAt(*found, "/paths");
  if (values.count("json") != 0) {
    std::cout << jsonLine(*found) << "\n";
  } else if (paths.empty()) {
    complain(kDtaCommand, {"path", "no store has a path of such a flow"});
  }
  if (values.count("json") == 0) {
    for (const auto& path : paths) printPath(path);
  }
  return paths.empty() ? kExitNoKey : 0;
}

}  // namespace pingloom::cli
