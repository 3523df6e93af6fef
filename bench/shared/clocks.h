// Readings of the kernel's clocks, which count a process' or a thread's CPU time or the time.
#pragma once

#include <ctime>

#include "common/time.h"

namespace pingloom::bench {

inline Nanos readClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// CPU time, user and system together.
inline Nanos threadCpu() { return readClock(CLOCK_THREAD_CPUTIME_ID); }
inline Nanos processCpu() { return readClock(CLOCK_PROCESS_CPUTIME_ID); }

inline double toSeconds(Nanos time) { return static_cast<double>(time) / 1e9; }
inline double toMilliseconds(Nanos time) { return static_cast<double>(time) / 1e6; }

}  // namespace pingloom::bench
