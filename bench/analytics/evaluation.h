// Evaluates how well a detector finds incidents in runs where all of them are known.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/adaptive_sampler.h"
#include "collector/analytics/autoencoder_fit.h"
#include "collector/analytics/hysteresis.h"
#include "collector/analytics/subspace_detector.h"
#include "incidents.h"

namespace pingloom::bench {

// Rows that a fit visits per sample: ten minutes for a whole one.
constexpr std::size_t kFitRows = collector::analytics::AutoencoderFit::kVisits / 600;

// What a detector says about each sample of a run.
struct Trace {
  std::vector<collector::analytics::GroupState> states;
  std::vector<float> scores;       // NaN where nothing was judged
  std::vector<std::uint32_t> top;  // the metric that deviates most
};

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
  double precision() const;           // the share of alarms inside an incident; 1 without alarms
  double recall() const;              // the share of incidents in which an alarm began
  double falseAlarmsPerHour() const;  // of quiet samples, one per second
  double saving() const;              // the share of values that the sampler did not export
  // A quantile of all delays; NaN without any.
  double delay(double quantile) const;
};
double quantileOf(std::vector<double> values, double quantile);

// An alarm up to so many samples after an incident's end still counts as the incident's: hysteresis
// ends late, and the verdict may need the last samples.
constexpr std::size_t kGrace = 10;
// An alarm is false if no incident is near. Recovering from one takes so many samples: what lags
// behind a load that was gone, and values that are averaged.
constexpr std::size_t kRecovery = 120;

// Observes a run with a fresh detector, which may fit a model in between.
Trace traceOf(const collector::analytics::SubspaceSettings& settings, const Run& run);
// Adds what the trace found in the run.
void add(const Run& run, const Trace& trace, Evaluation& sum);
Evaluation evaluate(const collector::analytics::SubspaceSettings& settings,
                    std::span<const Run> runs);

// The evaluation of bare scores, with the limit that has the highest recall at no more than
// `false_alarms` an hour. It is chosen in hindsight, on these very runs.
Evaluation bestOf(std::span<const Run> runs, std::span<Trace> traces, double false_alarms);

}  // namespace pingloom::bench
