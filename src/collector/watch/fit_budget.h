// The time that fits of models may take: kShare of each interval. A slice that has begun is
// finished, and what it takes beyond the budget is missing from those of the next intervals. So the
// share holds however long a slice takes. The clock is the caller's and counts what its thread uses
// of a processor. One thread.
#pragma once

#include <algorithm>

#include "common/time.h"

namespace pingloom::collector {

class FitBudget {
 public:
  static constexpr double kShare = 0.05;  // of a core

  // Begins an interval: calls `slice` for as long as it returns that there is more to do, and the
  // budget by `clock` lasts.
  template <typename Clock, typename Slice>
  void spend(Nanos interval, const Clock& clock, const Slice& slice) {
    // What was left of the last interval is not saved up.
    left_ = std::min<Nanos>(left_, 0) + static_cast<Nanos>(kShare * static_cast<double>(interval));
    bool more = true;
    while (more && left_ > 0) {
      const Nanos begin = clock();
      more = slice();
      left_ -= clock() - begin;
    }
  }

 private:
  Nanos left_ = 0;  // negative: owed by the next intervals
};

}  // namespace pingloom::collector
