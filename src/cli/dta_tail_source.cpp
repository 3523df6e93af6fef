#include "cli/dta_tail_source.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "cli/json_fields.h"
#include "cli/service_api.h"
#include "common/duration.h"
#include "http/url.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kLookAgain = 20 * kMillisecond;  // in stores

}  // namespace

Result<DtaTail> DtaTail::open(const DtaSource& source, const std::string& table, std::uint32_t list,
                              bool all) {
  DtaTail tail(source, {table, list, {}});
  if (source.asksCollector()) {
    const auto answer = tail.askTail("end", 0);
    if (!answer) return tl::unexpected(answer.error());
    const std::string end = textAt(*answer, "/cursor");
    auto parsed = collector::TailCursor::parse(end);
    if (!parsed) return tl::unexpected(parsed.error());
    tail.first_end_ = std::move(*parsed);
    if (!all) tail.cursor_ = end;
    return tail;
  }
  auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  tail.opened_ = std::move(*opened);
  const auto views = viewsOf(tail.opened_);
  if (auto known = checkTail(views, tail.question_); !known) return tl::unexpected(known.error());
  tail.first_end_ = endOfTail(views, tail.question_);
  if (!all) tail.question_.cursor = tail.first_end_;
  return tail;
}

Result<nlohmann::json> DtaTail::askTail(const std::string& cursor, Nanos wait) const {
  std::string question = "tail?table=" + http::percentEncoded(question_.table) +
                         "&list=" + std::to_string(question_.list) +
                         "&cursor=" + http::percentEncoded(cursor);
  if (wait != 0) question += "&wait=" + formatDuration(wait);
  return askCollector(source_, question, wait + kAnswerTimeout);
}

Result<nlohmann::json> DtaTail::next(Nanos wait) {
  if (!source_.asksCollector()) return nextOfStores(wait);
  auto tail = askTail(cursor_, wait);
  if (tail) cursor_ = textAt(*tail, "/cursor");
  return tail;
}

bool DtaTail::pastFirstEnd() const {
  auto now = source_.asksCollector() ? collector::TailCursor::parse(cursor_) : question_.cursor;
  if (!now) return false;
  return std::all_of(first_end_.places.begin(), first_end_.places.end(), [&](const auto& end) {
    const auto at = now->places.find(end.first);
    return at != now->places.end() && std::tie(at->second.sequence, at->second.entry) >=
                                          std::tie(end.second.sequence, end.second.entry);
  });
}

Result<nlohmann::json> DtaTail::nextOfStores(Nanos wait) {
  if (opened_.stores.empty() || !opened_.reachable()) {
    opened_.stores.clear();  // before their device
    auto opened = openStores(source_);
    if (!opened) return tl::unexpected(opened.error());
    opened_ = std::move(*opened);
  }
  const auto views = viewsOf(opened_);
  const Nanos end = monotonicNow() + wait;
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
