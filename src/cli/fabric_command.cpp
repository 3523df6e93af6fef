// pingloom fabric: shows the switches and links that the traced paths have shown.
#include <iostream>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/failure.h"
#include "cli/path_report.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kFabricCommand = "pingloom fabric";

}  // namespace

int runFabric(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kFabricCommand, "pingloom fabric [--json] [--url U]",
      "Shows the switches and links of the fabric as the agents have traced them (docs/paths.md):\n"
      "how many flows take each direction of a link, and which incident accuses it.\n"
      "Exit: 0 shown, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("json", "print the controller's answer");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kFabricCommand, site.error());
  const auto fabric = askControllerJson(*site, "/api/v1/fabric", kAnswerTimeout);
  if (!fabric) return fail(kFabricCommand, fabric.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*fabric) << "\n";
    return 0;
  }
  for (const std::string& line : fabricLines(*fabric)) std::cout << line << "\n";
  return 0;
}

}  // namespace pingloom::cli
