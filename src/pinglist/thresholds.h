// The `thresholds:` of a probe, above which a figure of a pair deserves attention. They concern
// only the display and are not part of the plan, so a change of them is not pushed to agents.
// Values; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/duration.h"
#include "common/error.h"
#include "common/yaml.h"

namespace pingloom::pinglist {

// A threshold of `network` applies to each of its percentiles, and likewise for the others.
constexpr std::array<std::string_view, 7> kThresholdMetrics = {
    "network", "rtt", "responder", "prober", "jitter", "loss", "anomalous"};

struct Threshold {
  // "3x" is relative to the median of the mesh's well pairs, for times only; "50us" and "5%" are
  // absolute, in the format of formatDuration() or the shortest decimal; "" stands for none.
  std::string warn;
  std::string crit;

  bool operator==(const Threshold&) const = default;
};

struct Thresholds {
  // In the order of kThresholdMetrics; these are the defaults.
  std::array<Threshold, kThresholdMetrics.size()> of = {
      {{"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {}, {}}};

  bool operator==(const Thresholds&) const = default;
};

// Sets the levels that `thresholds:` of the map contains; the others stay unchanged.
Status readThresholds(const yaml::Node& map, Thresholds& thresholds);

// Describes the differences to the defaults, such as "network warn 50us crit 200us, loss warn 1%
// crit none", or returns "".
std::string describe(const Thresholds& thresholds);

}  // namespace pingloom::pinglist
