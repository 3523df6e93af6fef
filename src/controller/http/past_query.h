// What questions about the past have in common: their parameters, and who answers them. The HTTP
// thread asks, the reader's answers.
#pragma once

#include <cstdint>
#include <functional>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/history_reader.h"
#include "http/message.h"

namespace pingloom::controller::api {

constexpr Nanos kDefaultPast = kHour;  // from there on, where a question has no 'from'

// The parameter `name`; `without` where there is none. The error is the answer.
tl::expected<Nanos, http::Response> timeOption(const http::Request& request, const char* name,
                                               Nanos without);
tl::expected<std::uint64_t, http::Response> numberOption(const http::Request& request,
                                                         const char* name, std::uint64_t without,
                                                         std::uint64_t most);

struct TimeRange {
  Nanos from_utc = 0;  // [from, until)
  Nanos until_utc = 0;
};
// 'from' and 'to'; those of any year that can be written, as far as times reach.
tl::expected<TimeRange, http::Response> rangeOption(const http::Request& request);

http::Response unreadable(const Error& error);

// Runs `answer` on the reader's thread.
http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer);

}  // namespace pingloom::controller::api
