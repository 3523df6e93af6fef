// What a detector says of runs whose incidents are known.
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
  std::uint64_t named = 0;     // of those detected: the verdict's first metric was one that was hit
  std::vector<double> delays;  // samples from the incident's beginning, of those detected
};

struct Evaluation {
  std::array<KindResult, kIncidents> kinds;
  std::uint64_t alarms = 0;         // times that the verdict became anomalous
  std::uint64_t false_alarms = 0;   // of those, outside all incidents
  std::uint64_t quiet_samples = 0;  // judged, outside all incidents
  std::uint64_t values_exported = 0;
  std::uint64_t values = 0;

  std::uint64_t incidents() const;
  std::uint64_t detected() const;
  double precision() const;  // alarms that were inside an incident; 1 without alarms
  double recall() const;     // incidents that had an alarm
  double f1() const;
  double falseAlarmsPerHour() const;  // of quiet samples, one per second
  double saving() const;              // values that the sampler did not export
  // A quantile of all delays, or of one kind's; NaN without any.
  double delay(double quantile) const;
};
double quantileOf(std::vector<double> values, double quantile);

// An alarm up to so many samples after an incident's end still is the incident's: hysteresis ends
// late, and the verdict may need the last samples.
constexpr std::size_t kGrace = 10;

// A fresh detector and sampler for each run.
Evaluation evaluate(const collector::analytics::SubspaceSettings& settings,
                    std::span<const Run> runs);

}  // namespace pingloom::bench
