// What both loops are asked for, and what they say.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

#include "common/time.h"

namespace pingloom::bench {

// Of a loopback address each; nobody else uses them.
constexpr std::uint32_t kProberAddress = 0x7F2A0001;     // 127.42.0.1
constexpr std::uint32_t kResponderAddress = 0x7F2A0002;  // 127.42.0.2

struct ExchangeTask {
  std::uint64_t exchanges = 0;
  std::size_t batch = 0;    // PINGs in flight, at most 64
  std::size_t payload = 0;  // bytes of each message
};

struct ExchangeResult {
  std::uint64_t exchanges = 0;
  std::uint64_t timestamps = 0;  // delivered with them; six to an exchange
  Nanos cpu = 0;                 // of the thread, both sides together

  double perCpuSecond() const {
    return static_cast<double>(exchanges) * kSecond / static_cast<double>(cpu);
  }
};

inline Nanos threadCpu() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * kSecond +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicrosecond;
}

}  // namespace pingloom::bench
