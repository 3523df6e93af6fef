// Compares what two readers made of a row, field by field.
#pragma once

#include <algorithm>

#include "wire/row_view.h"

namespace pingloom::wire::test {

inline bool same(const SampleSetView& a, const SampleSetView& b) {
  return a.present == b.present && std::ranges::equal(a.sample_deltas, b.sample_deltas) &&
         std::ranges::equal(a.bucket_deltas, b.bucket_deltas) &&
         std::ranges::equal(a.bucket_counts, b.bucket_counts) && a.sum == b.sum && a.min == b.min &&
         a.max == b.max;
}

inline bool same(const RowView& a, const RowView& b) {
  return a.destination == b.destination && a.sent == b.sent && a.received == b.received &&
         a.lost == b.lost && a.refused == b.refused && a.unreachable == b.unreachable &&
         a.ack_lost == b.ack_lost && a.duplicate == b.duplicate && a.late == b.late &&
         a.skipped == b.skipped && a.misfit == b.misfit && a.inbound == b.inbound &&
         std::ranges::equal(a.anomalous, b.anomalous) && a.jitter_ns == b.jitter_ns &&
         std::ranges::all_of(kRowViewParts, [&](auto part) { return same(a.*part, b.*part); });
}

}  // namespace pingloom::wire::test
