// pingloom dta top: ranks the most counted keys of a table.
#include <fmt/format.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"
#include "collector/stores/store_top.h"
#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

void printTop(const nlohmann::json& top) {
  const auto& bound = fieldAt(top, "/error");
  const std::string error = bound.is_number() ? fmt::format("{:.0f}", bound.get<double>()) : "?";
  TextTable table({"RANK", "KEY", "COUNT", "ERROR"});
  std::vector<TextTable::Cells> rows;
  for (const auto& one : listAt(top, "/keys")) {
    rows.push_back({std::to_string(rows.size() + 1), printable(textAt(one, "/key")),
                    shownAt(one, "/count"), error});
    table.fit(rows.back());
  }
  printTable(table, rows);
  if (fieldAt(top, "/stale") == true) std::cout << "A writer is silent, so there may be more.\n";
}

}  // namespace

int dtaTop(const std::vector<std::string>& arguments) {
  ActionUsage action(kDtaCommand, "top",
                     "TABLE [--limit N] [--file FILE | --rdma HOST] [--json] [--url U]",
                     "Ranks the most counted keys of a table, in all stores together. A count is\n"
                     "never too small, apart from what came within the last second, and is larger\n"
                     "by more than ERROR with a probability of at most 14 % for each store.\n"
                     "Exit: 0 shown; 1 nothing was counted; 2 could not ask.\n");
  action.takesArgument("TABLE", "the table's name");
  addDtaOptions(action.options);
  action.options.add_options()("limit", boost::program_options::value<std::string>(),
                               "show at most so many keys, up to 1000 (default: 20)");
  boost::program_options::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  std::uint64_t limit = collector::kTopLimit;
  if (values.count("limit") != 0) {
    const auto asked = parseUnsigned(values["limit"].as<std::string>(), collector::kMaxTopLimit);
    if (!asked || *asked == 0) return usageError(kDtaCommand, {"--limit", "is from 1 to 1000"});
    limit = *asked;
  }
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  const std::string table = values[action.positional].as<std::string>();
  const auto top = fetchTop(*source, table, limit);
  if (!top) return fail(kDtaCommand, top.error());
  const bool absent = listAt(*top, "/keys").empty();
  if (values.count("json") != 0) {
    std::cout << jsonLine(*top) << "\n";
  } else if (absent) {
    complain(kDtaCommand, {"table " + table, "nothing was counted"});
  } else {
    printTop(*top);
  }
  return absent ? kExitNoKey : 0;
}

}  // namespace pingloom::cli
