// pingloom maintenance: says which hosts are being worked on, so that their pairs are not judged.
#include <fmt/format.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/commands.h"
#include "cli/controller_api.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "cli/operator_options.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "cli/text_table.h"
#include "common/json_text.h"
#include "common/text.h"
#include "http/url.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr const char* kMaintenanceCommand = "pingloom maintenance";
constexpr const char* kMaintenanceExit = "\n\nExit: 0 done, 2 could not ask, or refused.";

// A maintenance without a time lasts until it is ended.
std::string untilOf(const Json& maintenance) {
  return fieldAt(maintenance, "/until").is_null() ? "ended" : shownAt(maintenance, "/until");
}

int beginMaintenance(const std::vector<std::string>& arguments) {
  ActionUsage action(kMaintenanceCommand, "begin",
                     "HOST [--for DURATION|--until TIME] [--by NAME] [--comment TEXT]",
                     "Stops judging a host's pairs, until the time given or until it is ended.\n"
                     "They are still measured and shown." +
                         std::string(kMaintenanceExit));
  action.takesArgument("host", "the host's name in the pinglist");
  addEndOptions(action.options);
  addOperatorOptions(action.options);
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& host = values["host"].as<std::string>();
  if (host.empty() || invalidUtf8At(host) != std::string_view::npos) {
    return usageError(action.usage.name, {"HOST", "is empty or not UTF-8 text"});
  }
  Json body = {{"host", host}};
  if (auto status = setEnd(values, utcNow(), body); !status) {
    return usageError(action.usage.name, status.error());
  }
  if (auto status = setOperator(values, body); !status) {
    return usageError(action.usage.name, status.error());
  }
  const auto site = controllerSite(values);
  if (!site) return fail(action.usage.name, site.error());
  const auto made =
      tellController(*site, {"POST", "/api/v1/maintenance", jsonLine(body)}, kAnswerTimeout);
  if (!made) return fail(action.usage.name, made.error());
  std::cout << fmt::format("maintenance of {} until {}\n", shownAt(*made, "/host"), untilOf(*made));
  return 0;
}

int endMaintenance(const std::vector<std::string>& arguments) {
  ActionUsage action(kMaintenanceCommand, "end", "HOST",
                     "Judges a host's pairs again. A maintenance that the pinglist has is ended\n"
                     "there." +
                         std::string(kMaintenanceExit));
  action.takesArgument("host", "the host's name in the pinglist");
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& host = values["host"].as<std::string>();
  if (host.empty()) return usageError(action.usage.name, {"HOST", "is empty"});
  const auto site = controllerSite(values);
  if (!site) return fail(action.usage.name, site.error());
  const auto gone = tellController(
      *site, {"DELETE", "/api/v1/maintenance/" + http::percentEncoded(host)}, kAnswerTimeout);
  if (!gone) return fail(action.usage.name, gone.error());
  std::cout << "maintenance of " << printable(host) << " is ended\n";
  return 0;
}

void printMaintenance(const Json& document) {
  TextTable table({"HOST", "UNTIL (UTC)", "BY", "WHERE", "COMMENT"});
  std::vector<TextTable::Cells> rows;
  for (const Json& one : listAt(document, "/maintenance")) {
    const bool in_pinglist = fieldAt(one, "/in_pinglist") == Json(true);
    rows.push_back({shownAt(one, "/host"), untilOf(one), orDash(shownAt(one, "/by")),
                    in_pinglist ? "pinglist" : "controller", shownAt(one, "/comment")});
    table.fit(rows.back());
  }
  printTable(table, rows);
}

int listMaintenance(const std::vector<std::string>& arguments) {
  return runShowAction(
      {kMaintenanceCommand, "list", "[--json]",
       "Shows the hosts whose pairs are not judged." + std::string(kMaintenanceExit)},
      arguments, "/api/v1/maintenance", printMaintenance);
}

}  // namespace

int runMaintenance(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"list", "show the hosts whose pairs are not judged", listMaintenance},
      {"begin", "stop judging a host's pairs", beginMaintenance},
      {"end", "judge a host's pairs again", endMaintenance}};
  return runAction(kMaintenanceCommand,
                   "Pairs of a host in maintenance are measured and shown, but not judged.",
                   actions, arguments);
}

}  // namespace pingloom::cli
