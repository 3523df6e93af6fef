#include "cli/dta_tail_source.h"

#include <chrono>
#include <thread>
#include <utility>

#include "cli/json_fields.h"
#include "cli/service_api.h"
#include "common/duration.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kLookAgain = 20 * kMillisecond;  // in stores

}  // namespace

Result<DtaTail> DtaTail::open(const DtaSource& source, const std::string& table, std::uint32_t list,
                              bool all) {
  DtaTail tail(source, {table, list, {}});
  if (source.asksCollector()) {
    if (all) return tail;
    const auto end = tail.askTail("end", "");
    if (!end) return tl::unexpected(end.error());
    tail.cursor_ = textAt(*end, "/cursor");
    return tail;
  }
  auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  tail.opened_ = std::move(*opened);
  const auto views = viewsOf(tail.opened_);
  if (auto known = checkTail(views, tail.question_); !known) return tl::unexpected(known.error());
  if (!all) tail.question_.cursor = endOfTail(views, tail.question_);
  return tail;
}

Result<nlohmann::json> DtaTail::askTail(const std::string& cursor, const std::string& wait) const {
  std::string question = "tail?table=" + percentEncoded(question_.table) +
                         "&list=" + std::to_string(question_.list) +
                         "&cursor=" + percentEncoded(cursor);
  if (!wait.empty()) question += "&wait=" + wait;
  return askCollector(source_, question, kWait + kAnswerTimeout);
}

Result<nlohmann::json> DtaTail::next() {
  if (!source_.asksCollector()) return nextOfStores();
  auto tail = askTail(cursor_, formatDuration(kWait));
  if (tail) cursor_ = textAt(*tail, "/cursor");
  return tail;
}

Result<nlohmann::json> DtaTail::nextOfStores() {
  const auto views = viewsOf(opened_);
  const Nanos end = monotonicNow() + kWait;
  for (;;) {
    const auto tail = tailJson(views, question_);
    if (auto reached = opened_.reachable(); !reached) return tl::unexpected(reached.error());
    if (auto on = collector::TailCursor::parse(tail["cursor"].get<std::string>())) {
      question_.cursor = std::move(*on);
    }
    if (collector::hasNews(tail) || monotonicNow() >= end) return unordered(tail);
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookAgain));
  }
}

}  // namespace pingloom::cli
