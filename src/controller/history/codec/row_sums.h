// Sums of the rows of several windows. One thread per object.
#pragma once

#include <cstdint>
#include <optional>

#include "controller/model/board.h"

namespace pingloom::controller {

// Adds and saturates.
void addSaturating(std::uint32_t& sum, std::uint32_t more);

// Adds counts and anomalies and saturates.
void addCounts(const Row& from, Row& into);

// The mean of the windows' jitter, weighted by what they received.
class MeanJitter {
 public:
  void add(const Row& row);
  std::optional<std::uint64_t> value() const;

 private:
  double sum_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace pingloom::controller
