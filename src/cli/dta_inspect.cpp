// pingloom dta inspect: describes and checks a store's file.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_source.h"
#include "cli/dta_stores.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"
#include "collector/stores/store_document.h"
#include "common/json_text.h"
#include "common/time.h"
#include "store/store_view.h"

namespace pingloom::cli {
namespace {

nlohmann::json describeFile(const store::StoreView& view) {
  const std::string name = view.file().stem().string();
  auto document =
      nlohmann::json::parse(jsonLine(collector::storeJson(view, name, std::nullopt, utcNow())));
  for (std::size_t i = 0; i < view.head().tables.size(); ++i) {
    const store::Table& table = view.head().tables[i];
    auto& described = document["tables"][i];
    described["offset"] = table.offset;
    if (store::hasSlots(table.kind)) described["used"] = view.usedSlots(table);
  }
  return document;
}

void printFile(const nlohmann::json& store) {
  for (const char* field : {"file", "store", "made", "epoch", "serving", "bytes"}) {
    std::cout << fmt::format("{:<8} {}\n", field,
                             shownAt(store, (std::string("/") + field).c_str()));
  }
  std::cout << fmt::format("{:<8} {}\n\n", "writer",
                           fieldAt(store, "/writer").is_null() ? "never wrote"
                           : fieldAt(store, "/shared") == true
                               ? "several, which share the store"
                               : "incarnation " + shownAt(store, "/writer/incarnation"));
  TextTable table({"TABLE", "ID", "KIND", "OFFSET", "ROOM", "USED", "VALUE", "BYTES"});
  std::vector<TextTable::Cells> rows;
  for (const auto& one : listAt(store, "/tables")) {
    rows.push_back({shownAt(one, "/table"), shownAt(one, "/id"), shownAt(one, "/kind"),
                    shownAt(one, "/offset"), tableRoom(one), shownAt(one, "/used"),
                    shownAt(one, "/value_bytes"), shownAt(one, "/bytes")});
    table.fit(rows.back());
  }
  printTable(table, rows);
}

}  // namespace

int dtaInspect(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "inspect", "FILE [--json]",
      "Describes the store in a file: its head, its writer, and how full each table\n"
      "is. It reads the whole file, and needs no collector.\n"
      "Exit: 0 shown; 1 the file is no sound store; 2 wrong usage.\n");
  action.takesArgument("FILE", "the store's file");
  action.options.add_options()("json", "print one JSON document");
  boost::program_options::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto view = store::StoreView::open(values[action.positional].as<std::string>());
  if (!view) return fail(kDtaCommand, view.error(), kExitNoStore);
  const auto document = describeFile(*view);
  if (values.count("json") != 0) {
    std::cout << jsonLine(document) << "\n";
  } else {
    printFile(document);
  }
  return 0;
}

}  // namespace pingloom::cli
