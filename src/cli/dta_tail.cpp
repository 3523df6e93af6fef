// pingloom dta tail: follows a list.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "cli/command_actions.h"
#include "cli/dta_actions.h"
#include "cli/dta_bytes.h"
#include "cli/dta_tail_source.h"
#include "cli/failure.h"
#include "cli/json_fields.h"
#include "common/backoff.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "store/path_change.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

struct TailRequest {
  std::string table;
  std::uint32_t list = 0;
  std::uint64_t count = UINT64_MAX;  // entries to show
  bool all = false;
  bool follow = true;
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
  request.follow = values.count("no-follow") == 0;
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

// Asks until there is an answer: a collector that restarts is asked again from the same place on.
nlohmann::json nextNews(DtaTail& tail, Nanos wait) {
  Backoff pause{100 * kMillisecond, 2 * kSecond};
  for (;;) {
    auto news = tail.next(wait);
    if (news) return std::move(*news);
    if (pause.last() == 0) complain(kDtaCommand, {"tail", news.error().text() + "; trying again"});
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause.fail()));
  }
}

void printUntilTheEnd(DtaTail& tail, const TailRequest& request) {
  std::uint64_t shown = 0;
  while (shown < request.count && std::cout.good()) {
    if (!request.follow && tail.pastFirstEnd()) return;
    const nlohmann::json news = nextNews(tail, request.follow ? DtaTail::kWait : 0);
    printLost(news, request);
    const auto& entries = listAt(news, "/entries");
    for (const auto& entry : entries) {
      if (shown == request.count) break;
      printEntry(entry, request);
      ++shown;
    }
    std::cout.flush();
    if (!request.follow && entries.empty()) return;
  }
}

}  // namespace

int dtaTail(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kDtaCommand, "tail",
      "TABLE [LIST] [--all] [--no-follow] [--count N] [--file FILE | --rdma HOST] [--json] [--url "
      "U]",
      "Follows a list: shows each new entry as text in quotes if it is printable,\n"
      "otherwise as hexadecimal digits, until it is interrupted. LIST is a number; "
      "the default is 0.\n"
      "Entries that were overwritten before they were read are counted.\n"
      "While the collector restarts it asks again, and goes on where it was.\n"
      "Exit: 0 N entries, or all that were there, were shown; 2 could not ask at first.\n");
  action.takesArguments("ARGUMENT", "the table's name, and the list's number");
  addDtaOptions(action.options);
  action.options.add_options()("all", "begin with the oldest entry that is still there")(
      "count", po::value<std::uint64_t>(), "end after so many entries")(
      "no-follow", "end when what is there has been read: with --all, all entries");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto request = tailRequest(values, action.positional);
  if (!request) return usageError(kDtaCommand, request.error());
  const auto source = dtaSourceOf(values);
  if (!source) return fail(kDtaCommand, source.error());
  auto tail = DtaTail::open(*source, request->table, request->list, request->all);
  if (!tail) return fail(kDtaCommand, tail.error());
  printUntilTheEnd(*tail, *request);
  return 0;
}

}  // namespace pingloom::cli
