#include "controller/model/state.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pingloom::controller {

PairCounts countsOf(const Row& row) {
  const std::uint64_t anomalous =
      std::accumulate(row.anomalous.begin(), row.anomalous.end(), std::uint64_t{0});
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return {.sent = row.sent,
          .received = row.received,
          .lost = row.lost,
          .refused = row.refused,
          .unreachable = row.unreachable,
          .anomalous = static_cast<std::uint32_t>(std::min(anomalous, kMost)),
          .misfit = row.misfit,
          .timed = row.network.count > 0 ? 1U : 0U};
}

}  // namespace pingloom::controller
