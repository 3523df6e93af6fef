// pingloom alerts: shows the targets of alerts, and sends a test notification to one.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/alerts_report.h"
#include "cli/command_actions.h"
#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/json_text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kAlertsCommand = "pingloom alerts";
// The controller waits for an attempt in flight and for the test, 10 s each.
constexpr Nanos kTestTimeout = 30 * kSecond;

void printAlertLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << line << "\n";
}

int listAlerts(const std::vector<std::string>& arguments) {
  return runShowAction({kAlertsCommand, "list", "[--url URL] [--json]",
                        "Shows the targets of alerts and what became of their notifications.\n"
                        "Exit code: 0 done, 2 could not ask.\n"},
                       arguments, "/api/v1/alerts", [](const nlohmann::json& document) {
                         printAlertLines(reportAlerts(document));
                       });
}

int testAlert(const std::vector<std::string>& arguments) {
  ActionUsage action(kAlertsCommand, "test", "[--url URL] [--json] TARGET",
                     "Sends one test notification through a target at once, and shows what came "
                     "back.\n"
                     "Exit code: 0 delivered, 1 not delivered, 2 could not ask.\n");
  action.options.add_options()("json", "print one JSON document");
  action.takesArgument("target", "the target's name in controller.yaml");
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto target = values["target"].as<std::string>();
  constexpr std::string_view kTaken = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  if (target.empty() || target.find_first_not_of(kTaken) != std::string::npos) {
    return usageError(kAlertsCommand, {target, "is no target's name; it has only a-z, 0-9, _, -"});
  }
  const auto site = controllerSite(values);
  if (!site) return fail(kAlertsCommand, site.error());
  const auto answer =
      tellController(*site, {"POST", fmt::format("/api/v1/alerts/{}/test", target)}, kTestTimeout);
  if (!answer) return fail(kAlertsCommand, answer.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*answer) << "\n";
  } else {
    printAlertLines(reportAlertTest(*answer));
  }
  return wasDelivered(*answer) ? 0 : kExitNotDelivered;
}

}  // namespace

int runAlerts(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"list", "show the targets and what became of their notifications", listAlerts},
      {"test", "send one test notification through a target", testAlert}};
  return runAction(kAlertsCommand,
                   "The targets that the controller tells about incidents; docs/alerts.md.",
                   actions, arguments);
}

}  // namespace pingloom::cli
