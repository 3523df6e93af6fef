// Notices that this process did not run for a while: it was stopped, or starved of CPU time, or the
// machine slept. What it has not heard meanwhile says nothing about the others, because their
// messages are still on their way through its sockets. The control thread.
#pragma once

#include "common/time.h"

namespace pingloom::controller {

class LapseWatch {
 public:
  // The control thread turns at least once a second.
  static constexpr Nanos kLapse = 1500 * kMillisecond;
  // By then everybody has been heard who speaks once a second.
  static constexpr Nanos kCatchUp = 2 * kSecond;

  // Called at every turn. Returns false from the end of a lapse until everybody had the time to be
  // heard.
  bool steady(Nanos now_mono) {
    if (turned_mono_ != 0 && now_mono - turned_mono_ > kLapse) resumed_mono_ = now_mono;
    turned_mono_ = now_mono;
    return resumed_mono_ == 0 || now_mono - resumed_mono_ >= kCatchUp;
  }

 private:
  Nanos turned_mono_ = 0;   // CLOCK_MONOTONIC; 0: not yet
  Nanos resumed_mono_ = 0;  // 0: there was no lapse
};

}  // namespace pingloom::controller
