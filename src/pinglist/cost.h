// What a pinglist costs when its agents carry it out, and whether that is within the limits the
// operator has set. Computed from the lists, never from the pairs: a mesh of 10,000 takes
// milliseconds. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pinglist/pinglist.h"

namespace pingloom::pinglist {

// The controller's `limits:`. Beyond them a pinglist is warned about, not refused.
struct Limits {
  std::uint64_t max_pings_per_second_per_host = 20'000;
  std::uint64_t max_rows_per_second = 100'000;
  std::uint64_t max_history_bytes_per_day = 50ULL << 30;

  bool operator==(const Limits&) const = default;
};

// A row's share of the history database at most, where a source has hundreds of destinations: as it
// came, for two hours, and rolled up to a minute after that (docs/history-format.md).
constexpr double kHistoryBytesPerRow = 16;
constexpr double kHistoryBytesPerMinute = 4;

// A pair with N > 1 paths has N pings in an interval and N + 1 rows in a window: one for each and
// their merge.
struct Cost {
  std::size_t probes = 0;
  std::size_t hosts = 0;  // the addresses of one host of `hosts:` count once
  std::uint64_t pairs = 0;
  double pings_per_second = 0;  // sent by all hosts together
  double busiest_pings_per_second = 0;
  std::string busiest_host;  // its name or address; "" where nothing is probed
  double rows_per_second = 0;
  double history_bytes_per_day = 0;  // the newest day, two hours of it as they came
};

Cost costOf(const Pinglist& pinglist);

// One sentence for each limit that is exceeded.
std::vector<std::string> beyondLimits(const Cost& cost, const Limits& limits);

// "1.42 GiB", "812 B".
std::string humanBytes(double bytes);

}  // namespace pingloom::pinglist
