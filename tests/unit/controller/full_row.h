// A row in which each field differs from its default, and whose counts and widths are the largest.
#pragma once

#include <limits>

#include "controller/model/row.h"

namespace pingloom::controller::test {

inline Row fullRow() {
  constexpr auto kLargest = std::numeric_limits<std::uint32_t>::max();
  constexpr auto kWidest = std::numeric_limits<std::uint64_t>::max();
  Row row;
  row.sent = kLargest;
  row.received = 300;
  row.lost = 5;
  row.refused = 6;
  row.unreachable = kLargest - 311;
  row.ack_lost = 7;
  row.duplicate = 8;
  row.late = 9;
  row.misfit = 10;
  row.skipped = 11;
  row.inbound = 0;
  row.anomalous = {1, 2, 3, kLargest};
  row.network = {300, 1, 2, 3, 4, 5, 6};
  row.responder = {299, 70'000, 70'001, 70'000, 70'000, 70'000, 70'001};
  row.prober = {1, kWidest, kWidest, kWidest, kWidest, kWidest, kWidest};
  row.rtt = {300, 0, kWidest, kWidest - 1, kWidest, kWidest, kWidest};
  row.jitter_ns = kWidest;
  return row;
}

}  // namespace pingloom::controller::test
