// pingloom dta status: shows the stores and what their writers say.
#include <fmt/format.h>

#include "cli/dta_actions.h"
#include "cli/dta_stores.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

std::string writerState(const nlohmann::json& store) {
  if (fieldAt(store, "/writer").is_null()) return "never wrote";
  return fieldAt(store, "/writer/stale") == true ? "stale" : "alive";
}

std::string linkState(const nlohmann::json& store) {
  const auto& connected = fieldAt(store, "/connected");
  if (!connected.is_boolean()) return "unknown";
  return connected == true ? "connected" : "none";
}

std::string writerAge(const nlohmann::json& store) {
  const auto& age = fieldAt(store, "/writer/age_seconds");
  return age.is_number() ? fmt::format("{:.1f}s", age.get<double>()) : "-";
}

void printStores(const nlohmann::json& document) {
  TextTable table({"TRANSLATOR", "EPOCH", "LINK", "WRITER", "AGE", "KEY-WRITES", "APPENDS",
                   "INCREMENTS", "LOST", "REFUSED", "SKIPPED", "EVICTED", "DROPPED"});
  std::vector<TextTable::Cells> rows;
  for (const auto& store : listAt(document, "/stores")) {
    rows.push_back({shownAt(store, "/translator"), shownAt(store, "/epoch"), linkState(store),
                    writerState(store), writerAge(store), shownAt(store, "/writer/key_writes"),
                    shownAt(store, "/writer/appends"), shownAt(store, "/writer/increments"),
                    shownAt(store, "/writer/lost"), shownAt(store, "/writer/refused"),
                    shownAt(store, "/writer/skipped"), shownAt(store, "/writer/evicted"),
                    shownAt(store, "/writer/dropped")});
    table.fit(rows.back());
  }
  printTable(table, rows);
}

}  // namespace

int dtaStatus(const std::vector<std::string>& arguments) {
  return showStores(arguments, "status",
                    "Shows each store with its connection, and what its writer last said about\n"
                    "itself: a writer is stale if that was more than a second ago.\n"
                    "Exit: 0 shown; 2 could not ask.\n",
                    printStores);
}

}  // namespace pingloom::cli
