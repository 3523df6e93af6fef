// The common part of questions about the past: their parameters, and the way to the thread that
// answers. The HTTP thread asks, and the history reader's thread answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/history_reader.h"
#include "http/message.h"

namespace pingloom::controller::api {

constexpr Nanos kDefaultPast = kHour;  // the length of a range without 'from'

// Return the parameter `name`, or `without` where the request has none. The error is the answer.
tl::expected<Nanos, http::Response> timeOption(const http::Request& request, const char* name,
                                               Nanos without);
tl::expected<std::uint64_t, http::Response> numberOption(const http::Request& request,
                                                         const char* name, std::uint64_t without,
                                                         std::uint64_t most);

// Likewise, nullopt where the request has none.
tl::expected<std::optional<IpAddress>, http::Response> addressOption(const http::Request& request,
                                                                     const char* name);

struct TimeRange {
  Nanos from_utc = 0;  // the range is [from, until)
  Nanos until_utc = 0;
};
// Parses 'from' and 'to'. Years out of the range of Nanos are clamped to it.
tl::expected<TimeRange, http::Response> rangeOption(const http::Request& request);

http::Response unreadable(const Error& error);

// Runs `answer` on the reader's thread.
http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer);

}  // namespace pingloom::controller::api
