#include "incidents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pingloom::bench {

namespace {

constexpr std::size_t kCauses = 3;
constexpr double kDay = 86400;
constexpr std::size_t kGapLeast = 600;  // samples between incidents
constexpr std::size_t kGapMore = 600;

// This is Steele, Lea and Flood's SplitMix64 with Box and Muller's normal numbers. The standard
// library's distributions differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// A random walk of variance 1 that forgets within about `memory` samples.
class Wander {
 public:
  explicit Wander(double memory) : keep_(std::exp(-1 / memory)) {}
  double next(Random& random) {
    value_ = keep_ * value_ + std::sqrt(1 - keep_ * keep_) * random.normal();
    return value_;
  }

 private:
  double keep_;
  double value_ = 0;
};

enum class Kind : std::uint8_t { kCoupled, kAlone, kBursts, kConstant };

struct Metric {
  Kind kind = Kind::kCoupled;
  std::array<double, kCauses> weights{};
  double noise = 1;
  double base = 0;
  double unit = 1;
  double usual = 1;  // standard deviation, in units
};

Metric makeMetric(std::size_t number, std::size_t metrics, Random& random) {
  Metric metric;
  const double share = static_cast<double>(number) / static_cast<double>(metrics);
  if (share >= 0.70) metric.kind = Kind::kAlone;
  if (share >= 0.82) metric.kind = Kind::kBursts;
  if (share >= 0.92) metric.kind = Kind::kConstant;
  metric.unit = std::pow(10, random.between(-3, 6));
  metric.base = metric.unit * random.between(0, 50);
  metric.noise = random.between(0.2, 0.6);
  if (metric.kind != Kind::kCoupled) metric.noise = 1;
  double square = metric.noise * metric.noise;
  for (std::size_t i = 0; metric.kind == Kind::kCoupled && i < kCauses; ++i) {
    metric.weights[i] = i == 0 ? random.between(0.6, 1) : random.between(-0.5, 0.5);
    square += metric.weights[i] * metric.weights[i];
  }
  metric.usual = std::sqrt(square);
  return metric;
}

Occurrence makeOccurrence(Incident kind, std::size_t begin, std::size_t metrics, Random& random) {
  Occurrence made{.kind = kind, .begin = begin, .end = begin, .metrics = {}};
  const std::size_t coupled = metrics * 7 / 10;
  switch (kind) {
    case Incident::kSpike:
      made.end += 10 + random.below(21);
      made.metrics = {random.below(metrics * 8 / 10)};
      break;
    case Incident::kDecoupled:
      made.end += 180 + random.below(240);
      made.metrics = {random.below(coupled)};
      break;
    case Incident::kSaturation:
      made.end += 180 + random.below(240);
      made.metrics = {random.below(coupled), random.below(coupled), random.below(coupled)};
      break;
    case Incident::kLeak:
      made.end += 900 + random.below(600);
      made.metrics = {random.below(metrics * 8 / 10)};
      break;
  }
  return made;
}

std::vector<Occurrence> makeOccurrences(const RunShape& shape, Random& random) {
  std::vector<Occurrence> made;
  std::size_t begin = shape.quiet + random.below(kGapMore);
  for (std::size_t i = 0; shape.incidents; ++i) {
    made.push_back(
        makeOccurrence(static_cast<Incident>(i % kIncidents), begin, shape.metrics, random));
    if (made.back().end + kGapLeast >= shape.samples) {
      made.pop_back();
      break;
    }
    begin = made.back().end + kGapLeast + random.below(kGapMore);
  }
  return made;
}

// Gives what the incident makes of a metric's value, in its units and without its base.
class Effect {
 public:
  explicit Effect(Random& random)
      : size_(random.between(6, 12) * (random.uniform() < 0.5 ? -1 : 1)),
        ceiling_(random.between(-1.0, -0.5)),
        apart_(40) {}

  double on(double value, const Metric& metric, const Occurrence& occurrence, std::size_t now,
            Random& random) {
    const double progress = static_cast<double>(now - occurrence.begin) /
                            static_cast<double>(occurrence.end - occurrence.begin);
    switch (occurrence.kind) {
      case Incident::kSpike:
        return value + size_ * metric.usual;
      case Incident::kDecoupled:
        return metric.usual * apart_.next(random);
      case Incident::kSaturation:
        return std::min(value, ceiling_ * metric.usual);
      case Incident::kLeak:
        return value + std::abs(size_) * metric.usual * progress;
    }
    return value;
  }

 private:
  double size_;     // a spike's, or a leak's at its end, in standard deviations
  double ceiling_;  // in standard deviations
  Wander apart_;
};

}  // namespace

std::string_view nameOf(Incident kind) {
  constexpr std::array<std::string_view, kIncidents> kNames{
      "spike of one metric", "correlation break", "saturation", "slow leak"};
  return kNames[static_cast<std::size_t>(kind)];
}

Run makeRun(const RunShape& shape, std::uint64_t seed) {
  Random random(seed);
  Run run{shape.metrics, shape.samples, {}, makeOccurrences(shape, random)};
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < shape.metrics; ++i) {
    metrics.push_back(makeMetric(i, shape.metrics, random));
  }
  std::vector<Effect> effects;
  for (std::size_t i = 0; i < run.occurrences.size(); ++i) effects.emplace_back(random);
  std::array<Wander, kCauses> causes{Wander(60), Wander(20), Wander(5)};
  const double phase = random.uniform();

  run.values.reserve(shape.metrics * shape.samples);
  std::size_t current = 0;  // the current occurrence, or the next one
  for (std::size_t now = 0; now < shape.samples; ++now) {
    std::array<double, kCauses> cause{};
    for (std::size_t i = 0; i < kCauses; ++i) cause[i] = causes[i].next(random);
    cause[0] += 2 * std::sin(2 * std::numbers::pi * (static_cast<double>(now) / kDay + phase));
    if (current < run.occurrences.size() && now >= run.occurrences[current].end) ++current;
    const bool incident = current < run.occurrences.size() && now >= run.occurrences[current].begin;
    for (std::size_t i = 0; i < shape.metrics; ++i) {
      const Metric& metric = metrics[i];
      double value = metric.kind == Kind::kConstant ? 0 : metric.noise * random.normal();
      for (std::size_t k = 0; k < kCauses; ++k) value += metric.weights[k] * cause[k];
      // Sometimes it has a burst of its own, as compactions and garbage collections cause.
      if (metric.kind == Kind::kBursts && random.uniform() < 0.01) value += random.between(1, 4);
      if (incident) {
        const Occurrence& occurrence = run.occurrences[current];
        const bool hit = std::find(occurrence.metrics.begin(), occurrence.metrics.end(), i) !=
                         occurrence.metrics.end();
        if (hit) value = effects[current].on(value, metric, occurrence, now, random);
      }
      run.values.push_back(metric.base + metric.unit * value);
    }
  }
  return run;
}

}  // namespace pingloom::bench
