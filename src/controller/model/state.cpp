#include "controller/model/state.h"

#include <numeric>

namespace pingloom::controller {

PairCounts countsOf(const Row& row) {
  return {row.sent,
          row.received,
          row.lost,
          row.refused,
          row.unreachable,
          std::accumulate(row.anomalous.begin(), row.anomalous.end(), std::uint64_t{0}),
          row.network.count,
          row.misfit};
}

}  // namespace pingloom::controller
