// The samples of one part (network, responder, prober or rtt) of many pairs. Each pair has
// ascending runs of equal values. One thread per object.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

class Samples {
 public:
  void clear();
  // Adds samples to the current pair; they join its last run if that has the same value.
  void add(std::uint64_t value, std::uint32_t times);
  void endPair() { ends_.push_back(runs_.size()); }

  std::size_t pairs() const { return ends_.size(); }
  bool empty() const { return runs_.empty(); }
  std::span<const Run> of(std::size_t pair) const {
    const std::size_t from = pair == 0 ? 0 : ends_[pair - 1];
    return std::span(runs_).subspan(from, ends_[pair] - from);
  }

 private:
  std::vector<Run> runs_;
  std::vector<std::size_t> ends_;
};

}  // namespace pingloom::controller
