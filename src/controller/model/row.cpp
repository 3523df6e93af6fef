#include "controller/model/row.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pingloom::controller {

PairCounts countsOf(const RowCounts& counts, bool timed) {
  const std::uint64_t anomalous =
      std::accumulate(counts.anomalous.begin(), counts.anomalous.end(), std::uint64_t{0});
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return {.sent = counts.sent,
          .received = counts.received,
          .lost = counts.lost,
          .refused = counts.refused,
          .unreachable = counts.unreachable,
          .anomalous = static_cast<std::uint32_t>(std::min(anomalous, kMost)),
          .misfit = counts.misfit,
          .timed = timed ? 1U : 0U};
}

PairCounts countsOf(const Row& row) { return countsOf(row, row.network.count > 0); }

RowFigures figuresOf(const Row& row) {
  RowFigures made;
  made.counts = countsOf(row);
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    const Summary& summary = row.*kRowParts[part];
    if (summary.count == 0) continue;
    made.measured |= 1U << part;
    made.p50[part] = summary.p50;
  }
  made.has_jitter = row.jitter_ns.has_value();
  made.jitter_ns = row.jitter_ns.value_or(0);
  return made;
}

}  // namespace pingloom::controller
