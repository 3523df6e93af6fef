// Compares rows as they are shown, for tests and fuzz targets.
#pragma once

#include <algorithm>
#include <tuple>

#include "controller/model/rows.h"

namespace pingloom::controller::test {

inline bool samePart(const Summary& a, const Summary& b) {
  const auto all = [](const Summary& part) {
    return std::tie(part.count, part.min, part.mean, part.p50, part.p95, part.p99, part.max);
  };
  return all(a) == all(b);
}

inline bool sameRow(const Row& a, const Row& b) {
  const auto others = [](const Row& row) {
    return std::tie(row.misfit, row.skipped, row.inbound, row.anomalous, row.jitter_ns);
  };
  return others(a) == others(b) &&
         std::all_of(kRowCounts.begin(), kRowCounts.end(),
                     [&](auto count) { return a.*count == b.*count; }) &&
         std::all_of(kRowParts.begin(), kRowParts.end(),
                     [&](auto part) { return samePart(a.*part, b.*part); });
}

}  // namespace pingloom::controller::test
