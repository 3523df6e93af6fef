// Tells from scores whether there is an anomaly. It begins when `raise` of the last `window` scores
// were above 1 and what they exceed it by adds up to `evidence`: a score that is hardly above 1 may
// be so by chance for some samples, but not for long. Scores below 1 take away what they are below
// it by. The anomaly ends when none of the window was above 1. One thread.
#pragma once

#include <algorithm>

#include "collector/analytics/hysteresis.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class Alarm {
 public:
  // REQUIRES: Hysteresis::valid(settings), and evidence >= 0.
  Alarm(HysteresisSettings settings, double evidence) : hysteresis_(settings), wanted_(evidence) {}

  // Adds a score and returns the state.
  bool add(double score) {
    // One sample counts at most as much as a score of 2 does, and takes away at most what one of 0
    // does. What is gathered is bounded, so that it is gone soon after.
    evidence_ = std::clamp(evidence_ + std::clamp(score - 1, -1.0, 1.0), 0.0, 2 * wanted_);
    raised_ = hysteresis_.add(score > 1) && (raised_ || evidence_ >= wanted_);
    return raised_;
  }
  bool raised() const { return raised_; }
  void clear() {
    hysteresis_.clear();
    evidence_ = 0;
    raised_ = false;
  }
  void state(StateArchive& archive) {
    archive(hysteresis_, evidence_, raised_);
    archive.require(evidence_ >= 0 && evidence_ <= 2 * wanted_);
  }

 private:
  Hysteresis hysteresis_;
  double wanted_;
  double evidence_ = 0;
  bool raised_ = false;
};

}  // namespace pingloom::collector::analytics
