// The common part of questions about the past: their parameters, and the way to the thread that
// answers. The HTTP thread asks, and the history reader's thread answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/history/history_reader.h"
#include "controller/http/api.h"
#include "controller/model/grid_plan.h"
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

// Reads which changes of a probe's pairs are asked for into a query of the history: 'probe', the
// range, 'source', 'destination' and 'limit'. Returns the answer if one of them is malformed.
template <typename Query>
std::optional<http::Response> readPairQuery(const GridPlan& plan, const http::Request& request,
                                            std::uint64_t usual, std::uint64_t most, Query& query) {
  const auto probe = request.query.find("probe");
  if (probe != request.query.end()) {
    if (!probeNamed(plan, probe->second)) return unknownProbe(plan, probe->second);
    query.probe = probe->second;
  }
  auto range = rangeOption(request);
  if (!range) return std::move(range.error());
  auto source = addressOption(request, "source");
  if (!source) return std::move(source.error());
  auto destination = addressOption(request, "destination");
  if (!destination) return std::move(destination.error());
  auto limit = numberOption(request, "limit", usual, most);
  if (!limit) return std::move(limit.error());
  query.from_utc = range->from_utc;
  query.until_utc = range->until_utc;
  query.source = *source;
  query.destination = *destination;
  query.limit = *limit;
  return std::nullopt;
}

http::Response unreadable(const Error& error);

// Runs `answer` on the reader's thread.
http::Answer later(HistoryReader& reader, std::function<http::Response(History&)> answer);

}  // namespace pingloom::controller::api
