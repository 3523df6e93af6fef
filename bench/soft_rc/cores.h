// How a loop between two sides is run and timed: both sides in one thread, which never waits, in
// its CPU time, the kernel's part included; or each in a thread of its own, in wall time.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

enum class Cores { kOne, kTwo };

struct Setting {
  const char* name;
  bool raw;
  Cores cores;
};

// That part of the operations is done once before they are timed: memory that is used for the first
// time costs a page fault.
constexpr std::uint64_t kWarming = 10;

inline Nanos now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Nanoseconds per operation. `ask` does all of them and calls what it is given whenever it has
// nothing to do but wait; `answer` does what there is to answer now. Both give a Status.
template <typename Ask, typename Answer>
Result<double> measure(Cores cores, std::uint64_t operations, Ask&& ask, Answer&& answer) {
  const clockid_t clock = cores == Cores::kOne ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::atomic<bool> over = false;
  Status answered;
  std::thread answering;
  const Nanos begin = now(clock);
  if (cores == Cores::kTwo) {
    answering = std::thread([&] {
      while (answered && !over.load(std::memory_order_relaxed)) answered = answer();
      over = true;
    });
  }
  const Status asked = ask([&]() -> Status {
    if (cores == Cores::kOne) return answer();
    if (over.load(std::memory_order_relaxed)) return makeError("loop", "nobody answers");
    return {};
  });
  const Nanos took = now(clock) - begin;
  over = true;
  if (answering.joinable()) answering.join();
  if (!answered) return tl::unexpected(answered.error());
  if (!asked) return tl::unexpected(asked.error());
  return static_cast<double>(took) / static_cast<double>(operations);
}

}  // namespace pingloom::bench
