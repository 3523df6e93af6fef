#include "controller/http/past_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "common/log.h"
#include "common/text.h"

namespace pingloom::controller::api {
namespace {

http::Response refusedTime(const char* name, const Error& error) {
  return http::errorResponse(400, fmt::format("the parameter '{}': {}", name, error.text()));
}

}  // namespace

tl::expected<Nanos, http::Response> timeOption(const http::Request& request, const char* name,
                                               Nanos without) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto time = parseUtc(given->second);
  if (time) return *time;
  return tl::unexpected(refusedTime(name, time.error()));
}

tl::expected<std::uint64_t, http::Response> numberOption(const http::Request& request,
                                                         const char* name, std::uint64_t without,
                                                         std::uint64_t most) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto number = parseUnsigned(given->second, most);
  if (number) return *number;
  return tl::unexpected(http::errorResponse(
      400, fmt::format("the parameter '{}' must be a number from 0 to {}", name, most)));
}

namespace {

using OptionalTime = std::optional<CalendarTime>;

tl::expected<OptionalTime, http::Response> calendarTimeOption(const http::Request& request,
                                                              const char* name) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return OptionalTime();
  const auto instant = parseCalendarTime(given->second);
  if (instant) return *instant;
  return tl::unexpected(refusedTime(name, instant.error()));
}

}  // namespace

tl::expected<std::optional<IpAddress>, http::Response> addressOption(const http::Request& request,
                                                                     const char* name) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return std::nullopt;
  const auto address = IpAddress::parse(given->second);
  if (address) return *address;
  return tl::unexpected(http::errorResponse(
      400, fmt::format("the parameter '{}': {}", name, address.error().text())));
}

tl::expected<TimeRange, http::Response> rangeOption(const http::Request& request) {
  const auto to = calendarTimeOption(request, "to");
  if (!to) return tl::unexpected(to.error());
  const auto from = calendarTimeOption(request, "from");
  if (!from) return tl::unexpected(from.error());
  // A range beyond the times that Nanos can hold is clamped, and keeps at least a nanosecond.
  TimeRange range;
  range.until_utc = std::max<Nanos>(*to ? (*to)->utc() : utcNow(), 1);
  range.from_utc = *from ? std::min((*from)->utc(), kLatestUtc - 1)
                         : std::max<Nanos>(range.until_utc - kDefaultPast, 0);
  const bool ordered = *from && *to ? **from < **to : range.from_utc < range.until_utc;
  if (ordered) return range;
  return tl::unexpected(http::errorResponse(400, "'from' must be before 'to'"));
}

http::Response unreadable(const Error& error) { return http::errorResponse(503, error.text()); }

namespace {

// Only a shortage of memory is expected to throw here; it must not end the process.
http::Response answered(const std::function<http::Response(History&)>& answer, History& history) {
  try {
    return answer(history);
  } catch (const std::exception& failure) {
    static std::atomic<bool> logged = false;
    if (!logged.exchange(true)) {
      log::error("cannot answer a question about the past: {}", failure.what());
    }
    return http::errorResponse(500, std::string("history cannot be read: ") + failure.what());
  }
}

}  // namespace

http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer) {
  return http::Later([&reader, answer = std::move(answer)](http::Respond respond) {
    const auto shared = std::make_shared<http::Respond>(std::move(respond));
    const bool taken = reader.ask([shared, answer](const Result<History*>& history) {
      const auto take = std::exchange(*shared, nullptr);
      take(history ? answered(answer, **history) : unreadable(history.error()));
    });
    if (!taken)
      (*shared)(http::errorResponse(503, "too many questions about the past are waiting"));
  });
}

}  // namespace pingloom::controller::api
