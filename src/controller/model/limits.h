// Computes the limits that a figure of a pair is compared with, from the thresholds of its probe
// and the mesh's median. docs/verdicts.md has the rules. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/vocabulary.h"
#include "controller/model/board.h"
#include "pinglist/thresholds.h"

namespace pingloom::controller {

// A share is counted in millionths, so that times and shares are the same kind of number.
constexpr double kMillionth = 1e6;

// Sets `out` to the value that is judged: nanoseconds (a part's median, the jitter) or millionths.
// Returns false, and leaves `out`, where the row has no such measurement. The round trip is judged
// only where the row's exchanges have no network time, because it contains all other parts.
// It is called for each figure of every row. To return an optional took longer than all the rest,
// because the compiler writes its parts and reads it as a whole, for which the processor waits.
inline bool judgedValue(const RowFigures& row, Figure figure, std::uint64_t& out) {
  const auto median = [&row, &out](RowPart part) {
    if (!row.has(part)) return false;
    out = row.p50[static_cast<std::size_t>(part)];
    return true;
  };
  const auto share = [&out](std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return false;
    out = 0;
    if (part == 0) return true;  // nearly always, and dividing takes longer than all the rest
    out = static_cast<std::uint64_t>(kMillionth * static_cast<double>(part) /
                                     static_cast<double>(whole));
    return true;
  };
  const PairCounts& counts = row.counts;
  switch (figure) {
    case Figure::kNetwork:
      return median(RowPart::kNetwork);
    case Figure::kRtt:
      return !row.has(RowPart::kNetwork) && median(RowPart::kRtt);
    case Figure::kResponder:
      return median(RowPart::kResponder);
    case Figure::kProber:
      return median(RowPart::kProber);
    case Figure::kJitter:
      if (row.has_jitter) out = row.jitter_ns;
      return row.has_jitter;
    case Figure::kLoss:
      return share(std::uint64_t{counts.lost} + counts.refused + counts.unreachable, counts.sent);
    case Figure::kAnomalous:
      break;
  }
  return share(counts.anomalous, counts.received);
}

// Returns by how much a time has to exceed the mesh's median to count as slow, because smaller
// differences come from clocks and schedulers. It is 0 for shares.
std::uint64_t leastExcess(Figure figure, ClockSource clock);

// The values from which on a pair is beyond `warn` and `crit`; UINT64_MAX: never.
struct Limits {
  std::array<std::uint64_t, kFigureNames.size()> warn{};
  std::array<std::uint64_t, kFigureNames.size()> crit{};
};
Limits limitsOf(const pinglist::Thresholds& thresholds, const Baseline& baseline,
                ClockSource clock);

// Says why the pair is judged slow or worse, with one text for each figure of `judged` that the row
// has: "network_p50 2.4 ms, 800 x the mesh's median", "loss 12 %". Returns nothing for a pair that
// is ok.
std::vector<std::string> becauseOf(const RowFigures& row, Judged judged, const Baseline& baseline);

// Writes a time with two or three significant digits: "2.4 ms", "870 ns".
std::string timeText(std::uint64_t nanos);
// Writes a ratio of two times, such as "800" or "3.2".
std::string ratioText(std::uint64_t value, std::uint64_t base);
// Writes millionths as percent, such as "12 %" or "0.5 %".
std::string shareText(std::uint64_t millionths);

}  // namespace pingloom::controller
