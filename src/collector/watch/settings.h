// The settings for watching pages, from the configuration's `analytics:`. A plain value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/subspace_detector.h"
#include "collector/analytics/threshold_detector.h"
#include "common/error.h"
#include "common/time.h"
#include "common/yaml.h"

namespace pingloom::collector {

// A limit for the rate per second of every counter with this name, and for the value of every
// gauge.
struct MetricLimit {
  std::string metric;
  analytics::ThresholdRule::Side side = analytics::ThresholdRule::Side::kAbove;
  double limit = 0;
  analytics::HysteresisSettings hysteresis;
};

struct WatchSettings {
  Nanos interval = kSecond;  // time between samples
  std::vector<MetricLimit> limits;
  analytics::SubspaceSettings subspace;
  analytics::SamplerSettings sampler;
};

// For common/config_reader.h.
Status readValue(const yaml::Node& node, WatchSettings& settings);

}  // namespace pingloom::collector
