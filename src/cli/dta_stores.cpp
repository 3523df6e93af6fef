#include "cli/dta_stores.h"

#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/json_text.h"

namespace pingloom::cli {

int showStores(const std::vector<std::string>& arguments, const char* action, const char* text,
               void (*print)(const nlohmann::json& document)) {
  ActionUsage usage(kDtaCommand, action, "[--file FILE | --rdma HOST] [--json] [--url U]", text);
  addDtaOptions(usage.options);
  boost::program_options::variables_map values;
  if (const auto code = usage.parse(arguments, values)) return *code;
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  const auto document = fetchStores(*source);
  if (!document) return fail(kDtaCommand, document.error());
  if (values.count("json") != 0) {
    std::cout << jsonLine(*document) << "\n";
  } else {
    print(*document);
  }
  return 0;
}

std::string tableRoom(const nlohmann::json& table) {
  const std::string kind = textAt(table, "/kind");
  if (kind == "lists")
    return shownAt(table, "/lists") + " x " + shownAt(table, "/blocks") + " blocks";
  if (kind == "counters") return "2 x " + shownAt(table, "/counters") + " counters";
  const bool copies = table.contains("copies");
  return shownAt(table, "/slots") + " slots" +
         (copies ? ", " + shownAt(table, "/copies") + " copies" : "");
}

}  // namespace pingloom::cli
