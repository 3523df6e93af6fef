#include "controller/http/past_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "common/log.h"
#include "common/text.h"

namespace pingloom::controller::api {

tl::expected<Nanos, http::Response> timeOption(const http::Request& request, const char* name,
                                               Nanos without) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto time = parseUtc(given->second);
  if (time) return *time;
  return tl::unexpected(
      http::errorResponse(400, fmt::format("the parameter '{}': {}", name, time.error().text())));
}

tl::expected<std::uint64_t, http::Response> numberOption(const http::Request& request,
                                                         const char* name, std::uint64_t without,
                                                         std::uint64_t most) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return without;
  const auto number = parseUnsigned(given->second, most);
  if (number) return *number;
  return tl::unexpected(http::errorResponse(
      400, fmt::format("the parameter '{}' is not a number up to {}", name, most)));
}

tl::expected<TimeRange, http::Response> rangeOption(const http::Request& request) {
  const auto until = timeOption(request, "to", utcNow());
  if (!until) return tl::unexpected(until.error());
  const auto from = timeOption(request, "from", std::max<Nanos>(*until - kDefaultPast, 0));
  if (!from) return tl::unexpected(from.error());
  if (*from >= *until) {
    return tl::unexpected(http::errorResponse(400, "'from' must be before 'to'"));
  }
  return TimeRange{*from, *until};
}

http::Response unreadable(const Error& error) { return http::errorResponse(503, error.text()); }

namespace {

// Nothing of it is to be expected but that memory is short: it must not end the process.
http::Response answered(const std::function<http::Response(History&)>& answer, History& history) {
  try {
    return answer(history);
  } catch (const std::exception& failure) {
    static std::atomic<bool> logged = false;
    if (!logged.exchange(true)) {
      log::error("a question about the past could not be answered: {}", failure.what());
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
    if (!taken) (*shared)(http::errorResponse(503, "too many questions about the past wait"));
  });
}

}  // namespace pingloom::controller::api
