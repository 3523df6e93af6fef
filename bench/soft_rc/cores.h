// Runs and times a loop between two sides. Either both sides are in one thread that never waits,
// and its CPU time is measured, the kernel's part included; or each has a thread of its own, and
// wall time is measured.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>

#include "common/error.h"
#include "common/time.h"
#include "shared/clocks.h"

namespace pingloom::bench {

enum class Cores { kOne, kTwo };

struct Setting {
  const char* name;
  bool raw;
  Cores cores;
};

// One part in kWarming of the operations is done before they are timed: memory that is used for the
// first time costs a page fault.
constexpr std::uint64_t kWarming = 10;

// Gives nanoseconds per operation. `ask` does all of them and calls its argument whenever it could
// only wait; `answer` answers what has come. Both give a Status.
template <typename Ask, typename Answer>
Result<double> measure(Cores cores, std::uint64_t operations, Ask&& ask, Answer&& answer) {
  const clockid_t clock = cores == Cores::kOne ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::atomic<bool> over = false;
  Status answered;
  std::thread answering;
  const Nanos begin = readClock(clock);
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
  const Nanos took = readClock(clock) - begin;
  over = true;
  if (answering.joinable()) answering.join();
  if (!answered) return tl::unexpected(answered.error());
  if (!asked) return tl::unexpected(asked.error());
  return static_cast<double>(took) / static_cast<double>(operations);
}

}  // namespace pingloom::bench
