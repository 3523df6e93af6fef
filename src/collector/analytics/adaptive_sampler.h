// Decides which rounds of a group's samples are exported: all rounds while the group is anomalous
// or still being learned, and for a while afterwards; otherwise one round per interval. One object
// for each group; one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "common/time.h"

namespace pingloom::collector::analytics {

// The state of a group.
enum class GroupState : std::uint8_t {
  kLearning,   // the usual behaviour is not known yet
  kQuiet,      // the group behaves as usual
  kAnomalous,  // the group does not behave as usual
};

struct SamplerSettings {
  Nanos slow_interval = 30 * kSecond;  // time between exports of a quiet group
  Nanos hold = kMinute;  // how long the full rate lasts after the last round that was not quiet

  bool operator==(const SamplerSettings&) const = default;
};

class AdaptiveSampler {
 public:
  explicit AdaptiveSampler(SamplerSettings settings = {}) : settings_(settings) {}

  // Tells whether this round's values are exported. The round in which the state becomes anomalous
  // is exported, and the first round always is.
  bool exports(Nanos now_mono, GroupState state, std::uint64_t values);

  // Counts the values of all rounds.
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
