// Time is a count of nanoseconds; which clock it was read from is in the variable's name:
// *_mono for CLOCK_MONOTONIC, *_utc for CLOCK_REALTIME. Logic takes the time as an argument, so
// that tests run on a virtual clock; only the event loops read the clocks below.
#pragma once

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

// "250us", "200ms", "1s", "1.5s", "10m", "24h", "7d": a positive decimal number and a unit (ns us
// ms s m h d).
Result<Nanos> parseDuration(std::string_view text);
// The shortest form that parseDuration reads back exactly: 1500ms, 10s, 2m.
std::string formatDuration(Nanos duration);
// Three significant digits for people: "812 ns", "4.07 us", "1.20 ms".
std::string humanNanos(Nanos duration);

// "2026-11-21T03:12:00Z"; with milliseconds ("...00.250Z") only where they are not zero.
std::string formatUtc(Nanos utc);
// The same, with up to nine digits of a second; years 1970 to 2199.
Result<Nanos> parseUtc(std::string_view text);

}  // namespace pingloom
