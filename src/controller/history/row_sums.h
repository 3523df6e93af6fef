// Rows of several windows as one. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "controller/board.h"

namespace pingloom::controller {

// Counts and anomalies; they stay at their largest value rather than overflow.
void addCounts(const Row& from, Row& into);

// The mean of the windows' jitter, by what they received.
class MeanJitter {
 public:
  void add(const Row& row);
  std::optional<std::uint64_t> value() const;

 private:
  double sum_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace pingloom::controller
