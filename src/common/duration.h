// Lengths of time as people write them and as they read them. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "common/time.h"

namespace pingloom {

constexpr Nanos kMaxDuration = 3650 * 24 * kHour;

// Reads a positive decimal number with a unit (ns us ms s m h d), at most kMaxDuration: "250us",
// "200ms", "1.5s", "10m", "24h", "7d".
Result<Nanos> parseDuration(std::string_view text);
// Writes the shortest form that parseDuration reads back exactly: 1500ms, 10s, 2m.
std::string formatDuration(Nanos duration);
// Writes three significant digits for people: "812 ns", "4.07 us", "1.20 ms".
std::string humanNanos(Nanos duration);

}  // namespace pingloom
