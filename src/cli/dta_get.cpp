// pingloom dta get: shows the value of a key.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

// Returns the bytes as quoted text if all are printable ASCII, apart from zeros at the end;
// otherwise "".
std::string asText(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  text.resize(text.find_last_not_of('\0') + 1);
  const bool shows =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c <= '~'; });
  return shows && !text.empty() ? fmt::format("  \"{}\"", text) : "";
}

bool isHex(const std::string& text) {
  return text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void printValue(const nlohmann::json& found) {
  const std::string value = textAt(found, "/value");
  const auto age = fieldAt(found, "/age_seconds");
  const auto stale = fieldAt(found, "/stale");
  std::cout << fmt::format("{}{}\n", shownAt(found, "/value"), isHex(value) ? asText(value) : "")
            << fmt::format(
                   "stored {} ({} s ago) by {}{}\n", shownAt(found, "/written"),
                   age.is_number() ? fmt::format("{:.1f}", age.get<double>()) : "?",
                   shownAt(found, "/translator"),
                   stale == true ? "; its writer is silent, so the value may be stale" : "");
}

}  // namespace

int dtaGet(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "get", "TABLE KEY [--file FILE] [--json] [--url U]",
      "Shows the value of a key that was stored last, as hexadecimal digits, and as\n"
      "text if it is printable. A KEY is text:TEXT, hex:DIGITS or u32:NUMBER.\n"
      "Exit: 0 shown; 1 not found; 2 could not ask.\n");
  action.takesArguments("ARGUMENT", "the table's name, and the key");
  addDtaOptions(action.options);
  boost::program_options::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& places = values[action.positional].as<std::vector<std::string>>();
  if (places.size() != 2) return usageError(kDtaCommand, {"get", "needs TABLE and KEY"});
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  const auto found = fetchValue(*source, places[0], places[1]);
  if (!found) return fail(kDtaCommand, found.error());
  const bool absent = fieldAt(*found, "/value").is_null();
  if (values.count("json") != 0) {
    std::cout << jsonLine(*found) << "\n";
  } else if (absent) {
    complain(kDtaCommand, {places[1], "is not in table " + places[0]});
  } else {
    printValue(*found);
  }
  return absent ? kExitNoKey : 0;
}

}  // namespace pingloom::cli
