// The limit up to which a score counts as usual. Scores are judged by N of M (hysteresis.h), so the
// level of a moment is the N-th largest of the last M scores: a limit below it would have raised.
// Of each block of kBlock samples the highest level counts, and the limit is
// median + factor * (90th percentile - median) of these. Blocks make the limit depend on how heavy
// the score's tail is, and quantiles make an incident among them move it little.
//
// The quantiles begin with values that hold for most groups, and follow each block by a part of
// their distance, less and less (Robbins and Monro's stochastic approximation).
// One thread; it allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/analytics/hysteresis.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class ScoreLimit {
 public:
  static constexpr std::uint32_t kBlock = 60;  // samples

  // `pace` is the least movement of a quantile by one block, as a fraction of the distance between
  // the two. REQUIRES: Hysteresis::valid(hysteresis).
  ScoreLimit(double factor, double pace, HysteresisSettings hysteresis);

  // Adds a score. `usual` says whether it may move the limit. REQUIRES: it is finite.
  void add(double score, bool usual);
  double limit() const;
  void clear();
  void state(StateArchive& archive);

 private:
  double apart() const;
  double level() const;
  void learn(double highest);

  double factor_;
  double pace_;
  HysteresisSettings hysteresis_;
  std::array<float, Hysteresis::kMaxWindow> last_{};
  std::uint64_t scores_ = 0;
  std::uint32_t in_block_ = 0;
  std::uint32_t blocks_ = 0;
  double highest_ = 0;  // of the current block
  double median_ = 0;
  double high_ = 0;  // the 90th percentile
};

}  // namespace pingloom::collector::analytics
