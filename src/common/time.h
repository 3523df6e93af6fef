// Time is a number of nanoseconds. A variable's name tells its clock: *_mono for CLOCK_MONOTONIC,
// *_utc for CLOCK_REALTIME. Logic takes the time as an argument, so that tests run on a virtual
// clock; only the event loops read the clocks below.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom {

using Nanos = std::int64_t;

constexpr Nanos kMicrosecond = 1'000;
constexpr Nanos kMillisecond = 1'000'000;
constexpr Nanos kSecond = 1'000'000'000;
constexpr Nanos kMinute = 60 * kSecond;
constexpr Nanos kHour = 60 * kMinute;
constexpr Nanos kAtOnce = 0;
constexpr Nanos kNever = INT64_MAX;  // as a due time

Nanos monotonicNow();
Nanos utcNow();

// One moment on both clocks. The two readings lie within kApart of each other, unless the thread
// was interrupted three times between them. Both clocks are slewed alike, so if their difference
// changes between two instants, CLOCK_REALTIME was set.
struct Instant {
  static constexpr Nanos kApart = 500;

  Nanos mono = 0;
  Nanos utc = 0;

  static Instant now();
};

// Formats a time as "2026-11-21T03:12:00Z", with milliseconds ("...00.250Z") if they are not zero.
std::string formatUtc(Nanos utc);
// Appends the same. It allocates nothing but `out`'s own memory: one runs for every row.
void appendUtc(std::string& out, Nanos utc);

// The last nanosecond of 2199, which is the latest supported time.
constexpr Nanos kLatestUtc = 7'258'118'400 * kSecond - 1;

// A time of any year that can be written.
struct CalendarTime {
  std::int64_t seconds = 0;  // since 1970; negative before it
  Nanos nanos = 0;           // fraction of a second

  auto operator<=>(const CalendarTime&) const = default;
  Nanos utc() const;  // clamped to 1970 .. kLatestUtc
};

// Parses RFC 3339: the format of formatUtc(), or with an offset ("...00+01:00"), and up to nine
// digits of a second.
Result<CalendarTime> parseCalendarTime(std::string_view text);
// Parses the same for the years 1970 to 2199.
Result<Nanos> parseUtc(std::string_view text);

}  // namespace pingloom
