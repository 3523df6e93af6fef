// Clocks in nanoseconds. Any thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace pingloom::report::client {

inline std::int64_t nanosOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
inline std::int64_t monotonicNanos() { return nanosOf(CLOCK_MONOTONIC); }
inline std::int64_t utcNanos() { return nanosOf(CLOCK_REALTIME); }

}  // namespace pingloom::report::client
