// Rows of several windows as one. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "controller/model/board.h"

namespace pingloom::controller {

// It stays at its largest value rather than overflow.
void addSaturating(std::uint32_t& sum, std::uint32_t more);

// Counts and anomalies; likewise.
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
