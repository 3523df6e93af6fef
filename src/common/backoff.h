// How long to wait before the next attempt: `first` after one failure, twice as long after each
// further one, never longer than `longest`. The caller chooses the unit. A plain value; one thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pingloom {

class Backoff {
 public:
  // REQUIRES: 0 < first <= longest, and twice `longest` can be represented.
  constexpr Backoff(std::int64_t first, std::int64_t longest) : first_(first), longest_(longest) {}

  // Counts a failure and returns the pause that follows it.
  constexpr std::int64_t fail() { return last_ = next(); }
  // The pause that the next failure brings.
  constexpr std::int64_t next() const { return std::clamp(2 * last_, first_, longest_); }
  // The pause that followed the latest failure; 0 where there was none since the last reset().
  constexpr std::int64_t last() const { return last_; }
  // After a success.
  constexpr void reset() { last_ = 0; }

 private:
  std::int64_t first_;
  std::int64_t longest_;
  std::int64_t last_ = 0;
};

}  // namespace pingloom
