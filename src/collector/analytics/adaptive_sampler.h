// Which rounds of a group's samples are exported: all while it is anomalous or nothing is known of
// it, and for a while afterwards; otherwise one now and then. One object for each group, one
// thread.
#pragma once

#include <cstdint>
#include <optional>

#include "common/time.h"

namespace pingloom::collector::analytics {

// What is known of a group.
enum class GroupState : std::uint8_t {
  kLearning,   // not yet what is usual
  kQuiet,      // as usual
  kAnomalous,  // not as usual
};

struct SamplerSettings {
  Nanos slow_interval = 30 * kSecond;  // between exports of a quiet group
  Nanos hold = kMinute;                // at full rate after the last round that was not quiet
};

class AdaptiveSampler {
 public:
  explicit AdaptiveSampler(SamplerSettings settings = {}) : settings_(settings) {}

  // Whether this round's values are exported. The round in which the state turns anomalous is the
  // first one. The first round is always exported.
  bool exports(Nanos now_mono, GroupState state, std::uint64_t values);

  // Values, of all rounds.
  std::uint64_t exported() const { return exported_; }
  std::uint64_t suppressed() const { return suppressed_; }

 private:
  SamplerSettings settings_;
  std::optional<Nanos> last_export_;
  std::optional<Nanos> full_until_;
  std::uint64_t exported_ = 0;
  std::uint64_t suppressed_ = 0;
};

}  // namespace pingloom::collector::analytics
