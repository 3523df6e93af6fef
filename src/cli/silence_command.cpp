// pingloom silence: hides incidents and withholds their alerts for a while.
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

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr const char* kSilenceCommand = "pingloom silence";
constexpr const char* kSilenceExit = "\n\nExit: 0 done, 2 could not ask, or refused.";

// Reads "host=gpu-3" and "rack=r1".
Result<Json> matchersOf(const std::vector<std::string>& words) {
  Json matchers = Json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return makeError("'" + word + "'", "write LABEL=VALUE, such as host=gpu-3 or rack=r1");
    }
    if (invalidUtf8At(word) != std::string_view::npos) {
      return makeError("a matcher", "is not UTF-8 text");
    }
    const std::string label = word.substr(0, equals);
    if (matchers.contains(label)) return makeError("'" + label + "'", "is here twice");
    matchers[label] = word.substr(equals + 1);
  }
  return matchers;
}

std::string matchersText(const Json& silence) {
  std::vector<std::string> parts;
  const Json& matchers = fieldAt(silence, "/matchers");
  if (!matchers.is_object()) return "-";
  for (const auto& [label, value] : matchers.items()) {
    if (value.is_string()) parts.push_back(printable(label + "=" + value.get<std::string>()));
  }
  return join(parts, " ");
}

int addSilence(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kSilenceCommand, "add",
      "LABEL=VALUE... --for DURATION|--until TIME [--by NAME] [--comment TEXT]",
      "Hides the incidents that have each of these values, and withholds their alerts. A label\n"
      "is host, culprit, kind, probe, or a label of the pinglist's hosts." +
          std::string(kSilenceExit));
  action.takesArguments("matcher", "host=gpu-3 rack=r1");
  addEndOptions(action.options);
  addOperatorOptions(action.options);
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  auto matchers = matchersOf(values["matcher"].as<std::vector<std::string>>());
  if (!matchers) return usageError(action.usage.name, matchers.error());
  Json body = {{"matchers", std::move(*matchers)}};
  if (auto status = setEnd(values, utcNow(), body); !status) {
    return usageError(action.usage.name, status.error());
  }
  if (!body.contains("duration") && !body.contains("until")) {
    return usageError(action.usage.name, {"", "say how long: --for 2h, or --until TIME"});
  }
  if (auto status = setOperator(values, body); !status) {
    return usageError(action.usage.name, status.error());
  }
  const auto site = controllerSite(values);
  if (!site) return fail(action.usage.name, site.error());
  const auto made =
      tellController(*site, {"POST", "/api/v1/silences", jsonLine(body)}, kAnswerTimeout);
  if (!made) return fail(action.usage.name, made.error());
  std::cout << fmt::format("silence {} of {} until {}\n", shownAt(*made, "/id"),
                           matchersText(*made), shownAt(*made, "/until"));
  return 0;
}

int removeSilence(const std::vector<std::string>& arguments) {
  ActionUsage action(kSilenceCommand, "remove", "ID",
                     "Ends a silence before its time." + std::string(kSilenceExit));
  action.takesArgument("id", "the silence");
  addSiteOptions(action.options, kUrlHelp);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& id = values["id"].as<std::string>();
  if (!parseUnsigned(id, UINT64_MAX)) {
    return usageError(action.usage.name, {"'" + id + "'", "is no silence's ID, such as 3"});
  }
  const auto site = controllerSite(values);
  if (!site) return fail(action.usage.name, site.error());
  const auto gone = tellController(*site, {"DELETE", "/api/v1/silences/" + id}, kAnswerTimeout);
  if (!gone) return fail(action.usage.name, gone.error());
  std::cout << "silence " << id << " is removed\n";
  return 0;
}

void printSilences(const Json& document) {
  TextTable table({"ID", "UNTIL (UTC)", "BY", "MATCHES", "COMMENT"});
  std::vector<TextTable::Cells> rows;
  for (const Json& silence : listAt(document, "/silences")) {
    rows.push_back({shownAt(silence, "/id"), shownAt(silence, "/until"), shownAt(silence, "/by"),
                    matchersText(silence), shownAt(silence, "/comment")});
    table.fit(rows.back());
  }
  printTable(table, rows);
}

int listSilences(const std::vector<std::string>& arguments) {
  return runShowAction({kSilenceCommand, "list", "[--json]",
                        "Shows the silences in force." + std::string(kSilenceExit)},
                       arguments, "/api/v1/silences", printSilences);
}

}  // namespace

int runSilence(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"list", "show the silences in force", listSilences},
      {"add", "hide matching incidents, and withhold their alerts", addSilence},
      {"remove", "end a silence before its time", removeSilence}};
  return runAction(kSilenceCommand,
                   "Silences hide incidents that are known, and withhold their alerts.", actions,
                   arguments);
}

}  // namespace pingloom::cli
