// pingloom dta tables: shows the tables of all stores.
#include "cli/dta_actions.h"
#include "cli/dta_stores.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

void printStoreTables(const nlohmann::json& document) {
  TextTable table({"TRANSLATOR", "TABLE", "ID", "KIND", "ROOM", "USED", "VALUE", "BYTES"});
  std::vector<TextTable::Cells> rows;
  for (const auto& store : listAt(document, "/stores")) {
    for (const auto& one : listAt(store, "/tables")) {
      rows.push_back({shownAt(store, "/translator"), shownAt(one, "/table"), shownAt(one, "/id"),
                      shownAt(one, "/kind"), tableRoom(one), shownAt(one, "/used"),
                      shownAt(one, "/value_bytes"), shownAt(one, "/bytes")});
      table.fit(rows.back());
    }
  }
  printTable(table, rows);
}

}  // namespace

int dtaTables(const std::vector<std::string>& arguments) {
  return showStores(arguments, "tables",
                    "Shows the tables of a collector's stores, or of the store in a file.\n"
                    "Exit: 0 shown; 2 could not ask.\n",
                    printStoreTables);
}

}  // namespace pingloom::cli
