// pingloom dta count: shows how much was counted for a key.
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

void printCount(const nlohmann::json& counted) {
  const auto& error = fieldAt(counted, "/error");
  std::cout << fmt::format(
      "{}\nat most {} too large, with a probability of at least 86 %{}\n",
      shownAt(counted, "/count"),
      error.is_number() ? fmt::format("{:.0f}", error.get<double>()) : "?",
      fieldAt(counted, "/stale") == true ? "; a writer is silent, so there may be more" : "");
}

}  // namespace

int dtaCount(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "count", "TABLE KEY [--file FILE | --rdma HOST] [--json] [--url U]",
      "Shows how much was counted for a key, in all stores together. The number is\n"
      "never too small, and may be too large by what other keys have added. A KEY is\n"
      "written as for 'pingloom dta get'.\n"
      "Exit: 0 shown; 1 nothing was counted; 2 could not ask.\n");
  action.takesArguments("ARGUMENT", "the table's name, and the key");
  addDtaOptions(action.options);
  boost::program_options::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& places = values[action.positional].as<std::vector<std::string>>();
  if (places.size() != 2) return usageError(kDtaCommand, {"count", "needs TABLE and KEY"});
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  const auto counted = fetchCount(*source, places[0], places[1]);
  if (!counted) return fail(kDtaCommand, counted.error());
  const bool absent = fieldAt(*counted, "/count") == 0;
  if (values.count("json") != 0) {
    std::cout << jsonLine(*counted) << "\n";
  } else if (absent) {
    complain(kDtaCommand, {places[1], "was not counted in table " + places[0]});
  } else {
    printCount(*counted);
  }
  return absent ? kExitNoKey : 0;
}

}  // namespace pingloom::cli
