// Computes what a pinglist costs, and whether that is within the operator's limits. It uses the
// lists, and of the pairs only those that a plan samples, so a mesh of 10,000 takes milliseconds,
// and with a plan less than a second. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pinglist/pinglist.h"

namespace pingloom::pinglist {

// The controller's `limits:`. A pinglist that exceeds them causes a warning and is not refused.
struct Limits {
  std::uint64_t max_pings_per_second_per_host = 20'000;
  std::uint64_t max_rows_per_second = 100'000;
  std::uint64_t max_history_bytes_per_day = 50ULL << 30;

  bool operator==(const Limits&) const = default;
};

// The maximum size of a row in the history database, for a source with hundreds of destinations.
// Rows are kept for two hours, then rolled up to minutes (docs/history-format.md).
constexpr double kHistoryBytesPerRow = 16;
constexpr double kHistoryBytesPerMinute = 4;

// A pair with N > 1 paths has N pings per interval and N + 1 rows per window: one for each path and
// their merge.
struct Cost {
  std::size_t probes = 0;
  std::size_t hosts = 0;  // all addresses of a host in `hosts:` count once
  std::uint64_t pairs = 0;
  double pings_per_second = 0;  // sent by all hosts together
  double busiest_pings_per_second = 0;
  std::string busiest_host;  // its name or address; "" if nothing is probed
  double rows_per_second = 0;
  double history_bytes_per_day = 0;  // for the newest day, of which two hours are not rolled up
};

Cost costOf(const Pinglist& pinglist);

// Returns one sentence for each exceeded limit.
std::vector<std::string> beyondLimits(const Cost& cost, const Limits& limits);

}  // namespace pingloom::pinglist
