// From where on a figure of a pair is worth a look: `thresholds:` of a probe. They are for people
// and screens: no part of the plan, so that agents hear nothing when they change. Values; any
// thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/yaml.h"

namespace pingloom::pinglist {

// A threshold of `network` is one of each of its percentiles, and so on.
constexpr std::array<std::string_view, 7> kThresholdMetrics = {
    "network", "rtt", "responder", "prober", "jitter", "loss", "anomalous"};

struct Threshold {
  // "3x": of the median of the mesh's well pairs, for times only; "50us", "5%": absolute, as
  // formatDuration() and the shortest decimal have it; "": none.
  std::string warn;
  std::string crit;

  bool operator==(const Threshold&) const = default;
};

struct Thresholds {
  // In the order of kThresholdMetrics; here those of a probe that says nothing.
  std::array<Threshold, kThresholdMetrics.size()> of = {
      {{"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {"3x", "10x"}, {}, {}}};

  bool operator==(const Thresholds&) const = default;
};

// Sets what `thresholds:` of the map names, level by level; the others stay.
Status readThresholds(const yaml::Node& map, Thresholds& thresholds);

// "network warn 50us crit 200us, loss warn 1% crit none": where it is not as without any; "".
std::string describe(const Thresholds& thresholds);

}  // namespace pingloom::pinglist
