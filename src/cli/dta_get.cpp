// pingloom dta get: shows the value of a key.
#include <fmt/format.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_bytes.h"
#include "cli/dta_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/json_text.h"

namespace pingloom::cli {
namespace {

void printValue(const nlohmann::json& found) {
  const std::string value = textAt(found, "/value");
  const auto age = fieldAt(found, "/age_seconds");
  const auto stale = fieldAt(found, "/stale");
  std::cout << fmt::format("{}{}\n", shownAt(found, "/value"), quotedText(value))
            << fmt::format(
                   "stored {} ({} s ago) by {}{}\n", shownAt(found, "/written"),
                   age.is_number() ? fmt::format("{:.1f}", age.get<double>()) : "?",
                   shownAt(found, "/translator"),
                   stale == true ? "; its writer is silent, so the value may be stale" : "");
}

}  // namespace

int dtaGet(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "get", "TABLE KEY [--file FILE | --rdma HOST] [--json] [--url U]",
      "Shows the value of a key that was stored last, as hexadecimal digits, and as\n"
      "text if it is printable. A KEY is text:TEXT, hex:DIGITS, u32:NUMBER or\n"
      "tuple:10.0.0.1:49152>10.0.1.1:4791/udp.\n"
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
