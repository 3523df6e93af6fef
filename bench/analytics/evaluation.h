// Evaluates how well a detector finds incidents in runs where all of them are known.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/subspace_detector.h"
#include "incidents.h"

namespace pingloom::bench {

struct KindResult {
  std::uint64_t incidents = 0;
  std::uint64_t detected = 0;
  std::uint64_t named = 0;     // detected, and the verdict's first metric was one that was hit
  std::vector<double> delays;  // of each detected one, in samples from its beginning
};

struct Evaluation {
  std::array<KindResult, kIncidents> kinds;
  std::uint64_t alarms = 0;         // how often the verdict became anomalous
  std::uint64_t false_alarms = 0;   // alarms outside all incidents
  std::uint64_t quiet_samples = 0;  // samples outside all incidents that were judged
  std::uint64_t values_exported = 0;
  std::uint64_t values = 0;

  std::uint64_t incidents() const;
  std::uint64_t detected() const;
  double precision() const;  // the share of alarms inside an incident; 1 without alarms
  double recall() const;     // the share of incidents that had an alarm
  double f1() const;
  double falseAlarmsPerHour() const;  // of quiet samples, one per second
  double saving() const;              // the share of values that the sampler did not export
  // A quantile of all delays; NaN without any.
  double delay(double quantile) const;
};
double quantileOf(std::vector<double> values, double quantile);

// An alarm up to so many samples after an incident's end still counts as the incident's: hysteresis
// ends late, and the verdict may need the last samples.
constexpr std::size_t kGrace = 10;

// Evaluates each run with a fresh detector and sampler.
Evaluation evaluate(const collector::analytics::SubspaceSettings& settings,
                    std::span<const Run> runs);

}  // namespace pingloom::bench
