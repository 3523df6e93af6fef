#include "collector/analytics/adaptive_sampler.h"

namespace pingloom::collector::analytics {

bool AdaptiveSampler::exports(Nanos now_mono, GroupState state, std::uint64_t values) {
  if (state != GroupState::kQuiet) full_until_ = now_mono + settings_.hold;
  const bool full = full_until_ && now_mono <= *full_until_;
  const bool due = !last_export_ || now_mono - *last_export_ >= settings_.slow_interval;
  if (!full && !due) {
    suppressed_ += values;
    return false;
  }
  last_export_ = now_mono;
  exported_ += values;
  return true;
}

}  // namespace pingloom::collector::analytics
