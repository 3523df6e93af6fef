// The set of free slots of a pool. The lowest free slot is taken first, so that the same few slots
// are reused and stay in cache, and slots taken in a row are adjacent. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pingloom::rdma::soft {

// `kCount` slots, all of them free at first. REQUIRES: kCount is a multiple of 64.
template <std::size_t kCount>
class FreeSlots {
 public:
  FreeSlots() { free_.fill(~std::uint64_t{0}); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // REQUIRES: not empty().
  std::uint32_t take() {
    while (free_[lowest_] == 0) ++lowest_;
    const auto bit = static_cast<std::size_t>(std::countr_zero(free_[lowest_]));
    free_[lowest_] &= free_[lowest_] - 1;
    --size_;
    return static_cast<std::uint32_t>(lowest_ * kBits + bit);
  }
  // REQUIRES: the slot is taken.
  void give(std::uint32_t slot) {
    const std::size_t word = slot / kBits;
    free_[word] |= std::uint64_t{1} << slot % kBits;
    lowest_ = std::min(lowest_, word);
    ++size_;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static_assert(kCount % kBits == 0);

  std::array<std::uint64_t, kCount / kBits> free_;
  std::size_t lowest_ = 0;  // the words before this one have no free slot
  std::size_t size_ = kCount;
};

}  // namespace pingloom::rdma::soft
