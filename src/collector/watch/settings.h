// The settings for watching pages, from the configuration's `analytics:`. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/peer_group.h"
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

  bool operator==(const MetricLimit&) const = default;
};

// The settings of an application that has its own.
struct ApplicationSettings {
  analytics::SubspaceSettings subspace;
  analytics::PeerSettings peers;
};

struct WatchSettings {
  static constexpr std::size_t kMaxApplications = 1000;

  Nanos interval = kSecond;  // time between samples
  std::vector<MetricLimit> limits;
  analytics::SubspaceSettings subspace;
  analytics::PeerSettings peers;
  std::map<std::string, ApplicationSettings> applications;  // by the application's name
  analytics::SamplerSettings sampler;
  // The label by whose value groups are replicas of each other; "": by their application's name.
  std::string peers_label;
  std::uint32_t trace_one_in = 100;  // traces of which a tracer keeps one while all is usual

  const analytics::SubspaceSettings& subspaceOf(const std::string& application) const {
    const auto own = applications.find(application);
    return own == applications.end() ? subspace : own->second.subspace;
  }
  const analytics::PeerSettings& peersOf(const std::string& application) const {
    const auto own = applications.find(application);
    return own == applications.end() ? peers : own->second.peers;
  }
};

// For common/config_reader.h.
Status readValue(const yaml::Node& node, WatchSettings& settings);

}  // namespace pingloom::collector
