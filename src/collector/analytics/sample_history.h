// The samples of a group's last day, thinned out so that a fixed number of rows covers them: every
// stride-th one. The stride is doubled, and every second row dropped, each time the rows are full,
// until they cover a day; from then on the oldest row makes room. So a young history is dense.
// One thread; memory is rows * slots * 4 bytes, taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class SampleHistory {
 public:
  // REQUIRES: rows is an even number above 0. `day` is the number of samples to cover at least.
  SampleHistory(std::size_t slots, std::size_t rows, std::uint64_t day);

  // REQUIRES: sample.size() == slots.
  void add(std::span<const double> sample);
  void clear();
  // New slots are 0 in the rows that there are.
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive);

  std::size_t rows() const { return used_; }
  std::uint64_t stride() const { return stride_; }
  // Returns all rows one after the other, in no particular order.
  std::span<const float> all() const { return {values_.data(), used_ * slots_}; }
  // Returns rows from the oldest on.
  std::span<const float> row(std::size_t number) const {
    return {values_.data() + placeOf(number), slots_};
  }
  std::size_t slots() const { return slots_; }

 private:
  void thin();
  std::size_t placeOf(std::size_t row) const { return (first_ + row) % capacity_ * slots_; }

  std::size_t slots_;
  std::size_t capacity_;
  std::uint64_t day_;
  std::vector<float> values_;
  std::size_t first_ = 0;
  std::size_t used_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t samples_ = 0;
};

}  // namespace pingloom::collector::analytics
