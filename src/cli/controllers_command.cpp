// pingloom controllers: shows the controllers that share a history.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/controllers_report.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kControllersCommand = "pingloom controllers";

}  // namespace

int runControllers(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kControllersCommand, "pingloom controllers [--url URL] [--json]",
      "Shows the controllers that share a history, which one leads, and the agents of each.\n"
      "Exit: 0 there is a leader, or the controller works alone, 1 nobody leads, or the "
      "controller\n"
      "that was asked is not one of them at present, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("json", "print the controller's document");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kControllersCommand, site.error());
  const auto answer = askControllerJson(*site, "/api/v1/controllers", kAnswerTimeout);
  if (!answer) return fail(kControllersCommand, answer.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*answer) << "\n";
  } else {
    for (const std::string& line : reportControllers(*answer)) std::cout << line << "\n";
  }
  return controllersHealthy(*answer) ? 0 : kExitUnhealthy;
}

}  // namespace pingloom::cli
