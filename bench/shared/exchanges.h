// What a loop of PING, PONG and ACK exchanges is asked for, and what it gives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/time.h"

namespace pingloom::bench {

struct ExchangeTask {
  std::uint64_t exchanges = 0;
  std::size_t batch = 0;    // PINGs in flight, at most 64
  std::size_t payload = 0;  // bytes of each message
};

struct ExchangeResult {
  std::uint64_t exchanges = 0;
  std::uint64_t timestamps = 0;  // delivered with them
  Nanos cpu = 0;                 // CPU time of the thread, which is both sides

  double perCpuSecond() const {
    return static_cast<double>(exchanges) * kSecond / static_cast<double>(cpu);
  }
  double microsecondsEach() const {
    return static_cast<double>(cpu) / 1e3 /
           static_cast<double>(std::max<std::uint64_t>(1, exchanges));
  }
};

}  // namespace pingloom::bench
