#include "verdict_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cluster_answers.h"

namespace pingloom::bench {
namespace {

constexpr std::chrono::milliseconds kPause{20};

}  // namespace

VerdictWatch::VerdictWatch(std::vector<const ControllerProcess*> watched, std::uint64_t pairs)
    : watched_(std::move(watched)), pairs_(pairs), thread_([this] { run(); }) {}

Nanos VerdictWatch::end() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  return longest_;
}

// Only the controller that leads judges.
void VerdictWatch::run() {
  Nanos judged_mono = monotonicNow();
  while (!ending_) {
    const Nanos asked = monotonicNow();
    if (std::any_of(watched_.begin(), watched_.end(),
                    [&](const ControllerProcess* each) { return judgedPairs(*each) == pairs_; })) {
      // What is between two answers with all pairs is no gap.
      judged_mono = monotonicNow();
    } else {
      longest_ = std::max(longest_, asked - judged_mono);
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace pingloom::bench
