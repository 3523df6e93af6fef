// What one flow lost in its newest windows on one route. A value of 56 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pingloom::controller {

class RecentCounts {
 public:
  static constexpr std::size_t kWindows = 6;

  struct Counts {
    std::uint32_t sent = 0;
    std::uint32_t lost = 0;
  };

  // Takes a window's counts, or the newest window's again with more reports.
  void take(std::uint64_t window, Counts counts) {
    if (window != window_) {
      std::rotate(newest_first_.begin(), newest_first_.end() - 1, newest_first_.end());
    }
    window_ = window;
    newest_first_[0] = counts;
  }

  Counts sum() const {
    Counts all;
    for (const Counts& each : newest_first_) {
      all.sent += each.sent;
      all.lost += each.lost;
    }
    return all;
  }
  // The counts of one window; 0 is the newest.
  const Counts& operator[](std::size_t age) const { return newest_first_[age]; }

 private:
  std::uint64_t window_ = UINT64_MAX;
  std::array<Counts, kWindows> newest_first_{};
};
static_assert(sizeof(RecentCounts) == 56, "the memory of a flow");

}  // namespace pingloom::controller
