// Waits for what threads, processes or the kernel do. Every unit test that waits does so here.
#pragma once

#include <chrono>
#include <thread>
#include <type_traits>

namespace pingloom::test {

// Gives other threads a moment to work.
struct Pause {
  void operator()() const { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
};

// Returns true as soon as the condition holds, or false when it still does not after 30 seconds.
// In between it takes steps: pauses, or what makes the caller's own objects go on. A step that
// returns false ends it, too.
template <typename Condition, typename Step = Pause>
bool eventually(Condition&& holds, Step&& step = {}) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if constexpr (std::is_void_v<decltype(step())>) {
      step();
    } else if (!step()) {
      return false;
    }
  }
  return true;
}

}  // namespace pingloom::test
