// What one flow lost in its newest windows on one route. A value of 88 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pingloom::controller {

class RecentCounts {
 public:
  static constexpr std::size_t kWindows = 6;
  static constexpr std::uint32_t kUnknown = 0xffffffff;
  // Nothing that the flow crosses has been accused for two windows then, so the incident is over
  // (docs/verdicts.md), and what was lost in it must not accuse anybody again.
  static constexpr std::uint64_t kForgetAfter = 3;

  struct Counts {
    std::uint32_t sent = 0;
    std::uint32_t lost = 0;  // on the way there or back
    // The PINGs that reached the destination, at most `sent` and at least `sent - lost`; kUnknown
    // if only the round trips are known.
    std::uint32_t arrived = kUnknown;

    bool apart() const { return arrived != kUnknown; }
  };

  // Takes a window's counts, or the newest window's again with more reports.
  void take(std::uint64_t window, Counts counts) {
    if (window != window_) {
      std::rotate(newest_first_.begin(), newest_first_.end() - 1, newest_first_.end());
    }
    window_ = window;
    if (accused_ != kNoWindow && window >= accused_ + kForgetAfter) {
      newest_first_.fill({});
      accused_ = kNoWindow;
    }
    newest_first_[0] = counts;
  }
  // The flow crosses what the windows so far accuse.
  void accuse() { accused_ = window_; }

  // The two ways are apart only if they are in every window.
  Counts sum() const {
    Counts all{0, 0, 0};
    bool apart = true;
    for (const Counts& each : newest_first_) {
      all.sent += each.sent;
      all.lost += each.lost;
      apart = apart && (each.apart() || each.sent == 0);
      all.arrived += each.sent == 0 ? 0 : each.arrived;
    }
    if (!apart) all.arrived = kUnknown;
    return all;
  }
  // The counts of one window; 0 is the newest.
  const Counts& operator[](std::size_t age) const { return newest_first_[age]; }

 private:
  static constexpr std::uint64_t kNoWindow = UINT64_MAX;

  std::uint64_t window_ = kNoWindow;
  std::uint64_t accused_ = kNoWindow;  // the newest window in which it was
  std::array<Counts, kWindows> newest_first_{};
};
static_assert(sizeof(RecentCounts) == 88, "the memory of a flow");

}  // namespace pingloom::controller
