// pingloom alerts: shows the targets of alerts, and sends a test notification to one.
#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/alerts_report.h"
#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "common/program.h"
#include "common/text.h"

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
  const program::Usage usage{"pingloom alerts list", "pingloom alerts list [--url URL] [--json]",
                             "Shows the targets of alerts and what became of their notifications.\n"
                             "Exit code: 0 done, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("json", "print one JSON document");
  addSiteOptions(options, kUrlHelp);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto site = controllerSite(values);
  if (!site) return fail(kAlertsCommand, site.error());
  const auto answer = askControllerJson(*site, "/api/v1/alerts", kAnswerTimeout);
  if (!answer) return fail(kAlertsCommand, answer.error());
  if (values.count("json") != 0) {
    std::cout << answer->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    printAlertLines(reportAlerts(*answer));
  }
  return 0;
}

int testAlert(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      "pingloom alerts test", "pingloom alerts test [--url URL] [--json] TARGET",
      "Sends one test notification through a target at once, and shows what came back.\n"
      "Exit code: 0 delivered, 1 not delivered, 2 could not ask.\n"};
  po::options_description options("Options");
  options.add_options()("json", "print one JSON document")(
      "target", po::value<std::string>()->required(), "the target's name in controller.yaml");
  addSiteOptions(options, kUrlHelp);
  po::positional_options_description places;
  places.add("target", 1);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, places, values)) return *code;
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
    std::cout << answer->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    printAlertLines(reportAlertTest(*answer));
  }
  return wasDelivered(*answer) ? 0 : kExitNotDelivered;
}

struct AlertsAction {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr std::array<AlertsAction, 2> kAlertsActions = {
    {{"list", "show the targets and what became of their notifications", listAlerts},
     {"test", "send one test notification through a target", testAlert}}};

}  // namespace

int runAlerts(const std::vector<std::string>& arguments) {
  std::string actions = "Actions:\n";
  std::vector<std::string_view> names;
  for (const AlertsAction& action : kAlertsActions) {
    names.push_back(action.name);
    if (!arguments.empty() && arguments.front() == action.name) {
      return action.run({arguments.begin() + 1, arguments.end()});
    }
    actions += fmt::format("  {:<10} {}\n", action.name, action.summary);
  }
  const program::Usage usage{
      kAlertsCommand, "pingloom alerts ACTION [OPTION]...",
      "The targets that the controller tells about incidents; docs/alerts.md.\n\n" + actions +
          "\n'pingloom alerts ACTION --help' explains one."};
  po::variables_map values;
  if (arguments.empty() || arguments.front().starts_with('-')) {
    if (const auto code = program::parse(usage, arguments, {}, {}, values)) return *code;
    std::cerr << "Usage: " << usage.synopsis << "\n\n" << usage.description << "\n";
    return program::kExitUsage;
  }
  return program::usageError(usage.name, "unknown action '" + arguments.front() + "'" +
                                             didYouMean(arguments.front(), names));
}

}  // namespace pingloom::cli
