#include "incidents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace pingloom::bench {

namespace {

constexpr std::size_t kGapLeast = 900;  // samples between incidents
constexpr std::size_t kGapMore = 900;
constexpr double kLag = 1.0 / 600;

std::size_t oneOf(std::span<const Form> forms, Random& random) {
  for (;;) {
    const std::size_t metric = random.below(kMetrics);
    if (std::find(forms.begin(), forms.end(), kForms[metric]) != forms.end()) return metric;
  }
}

std::vector<std::size_t> all(Form form) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (kForms[i] == form) found.push_back(i);
  }
  return found;
}

constexpr std::array kLoaded = {Form::kTraffic, Form::kCpu,   Form::kLatency,
                                Form::kReplica, Form::kQueue, Form::kRatio};
constexpr std::array kReplicas = {Form::kReplica};
constexpr std::array kMoving = {Form::kTraffic, Form::kCpu,   Form::kLatency,
                                Form::kReplica, Form::kQueue, Form::kRatio,
                                Form::kMemory,  Form::kAlone, Form::kLagged};

Occurrence makeOccurrence(Incident kind, std::size_t begin, Random& random) {
  Occurrence made{.kind = kind, .begin = begin, .end = begin, .metrics = {}};
  made.end += kind == Incident::kDrift ? 900 + random.below(900) : 240 + random.below(360);
  switch (kind) {
    case Incident::kDrift:
    case Incident::kJitter:
    case Incident::kLevelShift:
      made.metrics = {oneOf(kMoving, random)};
      break;
    case Incident::kFlatline:
    case Incident::kDecoupled:
      made.metrics = {oneOf(kLoaded, random)};
      break;
    case Incident::kOutage:
      made.end = begin + 120 + random.below(180);
      made.metrics = all(Form::kTraffic);
      break;
    case Incident::kGray:
      made.metrics = all(Form::kLatency);
      for (const std::size_t metric : all(Form::kReplica)) made.metrics.push_back(metric);
      break;
    case Incident::kReplica:
      made.metrics = {oneOf(kReplicas, random)};
      break;
  }
  return made;
}

std::vector<Occurrence> makeOccurrences(const RunShape& shape, Random& random) {
  std::vector<Occurrence> made;
  if (!shape.incidents) return made;
  const std::size_t end = shape.history + shape.samples;
  std::size_t begin = shape.history + shape.quiet + random.below(kGapMore);
  const std::size_t first = random.below(kIncidents);
  for (std::size_t i = 0;; ++i) {
    auto next = makeOccurrence(static_cast<Incident>((first + i) % kIncidents), begin, random);
    if (next.end + kGapLeast >= end) return made;
    begin = next.end + kGapLeast + random.below(kGapMore);
    made.push_back(std::move(next));
  }
}

// What an incident makes of the values of the metrics that it hits.
class Effect {
 public:
  explicit Effect(Random& random)
      : sign_(random.uniform() < 0.5 ? -1 : 1), size_(random.uniform()), other_(random) {}

  double load(double load, const Occurrence& occurrence) const {
    return occurrence.kind == Incident::kOutage ? load * (0.05 + 0.25 * size_) : load;
  }
  double otherLoad(std::size_t now, Random& random) { return other_.next(now, random); }

  double on(const Usual& usual, double noise, const Occurrence& occurrence, std::size_t now) {
    const double progress = static_cast<double>(now - occurrence.begin) /
                            static_cast<double>(occurrence.end - occurrence.begin);
    const double value = usual.value + usual.scatter * noise;
    switch (occurrence.kind) {
      case Incident::kDrift:
        return value + sign_ * (5 + 5 * size_) * progress * usual.scatter;
      case Incident::kJitter:
        return usual.value + (2.5 + 1.5 * size_) * usual.scatter * noise;
      case Incident::kFlatline:
        if (!held_) held_ = value;
        return *held_;
      case Incident::kGray:
      case Incident::kReplica:
        return value * (1.3 + 0.4 * size_);
      case Incident::kLevelShift:
        return value + sign_ * (3 + 3 * size_) * usual.scatter;
      case Incident::kOutage:
      case Incident::kDecoupled:
        return value;
    }
    return value;
  }

 private:
  double sign_;
  double size_;  // from 0 to 1
  Load other_;
  std::optional<double> held_;
};

}  // namespace

std::string_view nameOf(Incident kind) {
  constexpr std::array<std::string_view, kIncidents> kNames{
      "slow drift",   "jitter",
      "flatline",     "outage",
      "gray latency", "correlation break",
      "level shift",  "one slow replica of four"};
  return kNames[static_cast<std::size_t>(kind)];
}

Run makeRun(const RunShape& shape, std::uint64_t seed) {
  Random random(seed);
  Run run;
  run.samples = shape.history + shape.samples;
  run.history = shape.history;
  run.occurrences = makeOccurrences(shape, random);
  std::vector<ServiceMetric> metrics;
  metrics.reserve(kForms.size());
  for (const Form form : kForms) metrics.emplace_back(form, random);
  std::vector<Effect> effects;
  effects.reserve(run.occurrences.size());
  for (std::size_t i = 0; i < run.occurrences.size(); ++i) effects.emplace_back(random);
  Load loads(random);
  double lagged = loads.next(0, random);

  run.values.reserve(kMetrics * run.samples);
  std::size_t current = 0;  // the current occurrence, or the next one
  for (std::size_t now = 0; now < run.samples; ++now) {
    if (current < run.occurrences.size() && now >= run.occurrences[current].end) ++current;
    const bool within = current < run.occurrences.size() && now >= run.occurrences[current].begin;
    const Occurrence* incident = within ? &run.occurrences[current] : nullptr;
    double load = loads.next(now, random);
    if (within) load = effects[current].load(load, *incident);
    const bool apart = within && incident->kind == Incident::kDecoupled;
    const double other = apart ? effects[current].otherLoad(now, random) : load;
    lagged += kLag * (load - lagged);
    for (std::size_t i = 0; i < kMetrics; ++i) {
      const bool hit = within && std::find(incident->metrics.begin(), incident->metrics.end(), i) !=
                                     incident->metrics.end();
      const Usual usual = metrics[i].usual(hit ? other : load, lagged, now, random);
      const double noise = random.normal();
      double value = hit ? effects[current].on(usual, noise, *incident, now)
                         : usual.value + usual.scatter * noise;
      if (kForms[i] == Form::kQueue) value = std::round(value);
      if (kForms[i] != Form::kRatio) value = std::max(value, 0.0);
      run.values.push_back(metrics[i].unit() * value);
    }
  }
  return run;
}

}  // namespace pingloom::bench
