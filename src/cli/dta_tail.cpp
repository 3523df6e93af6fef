// pingloom dta tail: follows a list.
#include <fmt/format.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_bytes.h"
#include "cli/dta_tail_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/json_text.h"
#include "common/text.h"
#include "store/path_change.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

struct TailRequest {
  std::string table;
  std::uint32_t list = 0;
  std::uint64_t count = UINT64_MAX;  // entries to show
  bool all = false;
  bool json = false;
};

Result<TailRequest> tailRequest(const po::variables_map& values, const std::string& positional) {
  const auto& places = values[positional].as<std::vector<std::string>>();
  if (places.size() > 2) return makeError("tail", "needs TABLE, and at most a LIST");
  TailRequest request;
  request.table = places[0];
  if (places.size() == 2) {
    const auto list = parseUnsigned(places[1], store::kMaxLists - 1);
    if (!list) return makeError("LIST", list.error().text());
    request.list = static_cast<std::uint32_t>(*list);
  }
  if (values.count("count") != 0) request.count = values["count"].as<std::uint64_t>();
  request.all = values.count("all") != 0;
  request.json = values.count("json") != 0;
  return request;
}

void printLost(const nlohmann::json& tail, const TailRequest& request) {
  const auto& lost = fieldAt(tail, "/lost");
  if (!lost.is_number_unsigned() || lost == 0) return;
  if (request.json) {
    std::cout << jsonLine(nlohmann::json{{"lost", lost}}) << "\n";
  } else {
    complain(kDtaCommand, {"tail", fmt::format("at most {} entries were overwritten before they "
                                               "were read",
                                               lost.get<std::uint64_t>())});
  }
}

void printEntry(const nlohmann::json& entry, const TailRequest& request) {
  if (request.json) {
    std::cout << jsonLine(entry) << "\n";
    return;
  }
  // Entries that are text are easier to read without their digits.
  const std::string hex = textAt(entry, "/entry");
  const std::string text =
      request.table == store::kPathChanges ? pathChangeText(hex) : quotedText(hex);
  std::cout << fmt::format("{}{}\n", shownAt(entry, "/translator"),
                           text.empty() ? "  " + shownAt(entry, "/entry") : text);
}

int follow(DtaTail& tail, const TailRequest& request) {
  for (std::uint64_t shown = 0; shown < request.count && std::cout.good();) {
    const auto news = tail.next();
    if (!news) return fail(kDtaCommand, news.error());
    printLost(*news, request);
    for (const auto& entry : listAt(*news, "/entries")) {
      if (shown == request.count) break;
      printEntry(entry, request);
      ++shown;
    }
    std::cout.flush();
  }
  return 0;
}

}  // namespace

int dtaTail(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "tail",
      "TABLE [LIST] [--all] [--count N] [--file FILE | --rdma HOST] [--json] [--url U]",
      "Follows a list: shows each new entry as text in quotes if it is printable,\n"
      "otherwise as hexadecimal digits, until it is interrupted. LIST is a number; "
      "the default is 0.\n"
      "Entries that were overwritten before they were read are counted.\n"
      "Exit: 0 N entries were shown; 2 could not ask.\n");
  action.takesArguments("ARGUMENT", "the table's name, and the list's number");
  addDtaOptions(action.options);
  action.options.add_options()("all", "begin with the oldest entry that is still there")(
      "count", po::value<std::uint64_t>(), "end after so many entries");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto request = tailRequest(values, action.positional);
  if (!request) return usageError(kDtaCommand, request.error());
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  auto tail = DtaTail::open(*source, request->table, request->list, request->all);
  if (!tail) return fail(kDtaCommand, tail.error());
  return follow(*tail, *request);
}

}  // namespace pingloom::cli
