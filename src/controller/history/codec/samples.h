// A pair's samples of one part (network, responder, prober or rtt) as a block gives them back: in
// ascending runs of equal values. Any thread; no state.
#pragma once

#include <cstdint>
#include <span>

#include "common/distribution.h"
#include "controller/model/board.h"

namespace pingloom::controller {

struct Run {
  std::uint64_t value = 0;  // nanoseconds
  std::uint32_t times = 0;
};

std::uint64_t countOf(std::span<const Run> runs);
// Percentiles are nearest-rank.
Summary summaryOf(std::span<const Run> runs);
void addTo(Distribution& distribution, std::span<const Run> runs);

}  // namespace pingloom::controller
