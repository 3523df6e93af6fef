#include "controller/http/past_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

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

http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer) {
  return http::Later([&reader, answer = std::move(answer)](http::Respond respond) {
    const auto shared = std::make_shared<http::Respond>(std::move(respond));
    const bool taken = reader.ask([shared, answer](const Result<History*>& history) {
      const auto take = std::exchange(*shared, nullptr);
      take(history ? answer(**history) : unreadable(history.error()));
    });
    if (!taken) (*shared)(http::errorResponse(503, "too many questions about the past wait"));
  });
}

}  // namespace pingloom::controller::api
