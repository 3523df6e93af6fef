// Time is a count of nanoseconds; which clock it was read from is in the variable's name:
// *_mono for CLOCK_MONOTONIC, *_utc for CLOCK_REALTIME. Logic takes the time as an argument, so
// that tests run on a virtual clock; only the event loops read the clocks below.
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
constexpr Nanos kNever = INT64_MAX;  // as the time when something is due

Nanos monotonicNow();
Nanos utcNow();

// "2026-11-21T03:12:00Z"; with milliseconds ("...00.250Z") only where they are not zero.
std::string formatUtc(Nanos utc);

// The last nanosecond of 2199: no time is later.
constexpr Nanos kLatestUtc = 7'258'118'400 * kSecond - 1;

// A time of any year that can be written.
struct CalendarTime {
  std::int64_t seconds = 0;  // since 1970, before it less than zero
  Nanos nanos = 0;           // of a second

  auto operator<=>(const CalendarTime&) const = default;
  Nanos utc() const;  // the nearest of those from 1970 to kLatestUtc
};

// RFC 3339: as formatUtc() or with an offset ("...00+01:00"), with up to nine digits of a second.
Result<CalendarTime> parseCalendarTime(std::string_view text);
// The same, of the years 1970 to 2199 only.
Result<Nanos> parseUtc(std::string_view text);

}  // namespace pingloom
