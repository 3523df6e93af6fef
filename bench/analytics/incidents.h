// Makes a group of metrics as a service has them, and incidents in it whose time, metrics and kind
// are known. The same seed gives the same numbers on every machine, except for the last digits of
// sin and log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pingloom::bench {

enum class Incident : std::uint8_t {
  kSpike,       // one metric is far off for a short time
  kDecoupled,   // one metric keeps its range but no longer goes with the others
  kSaturation,  // a few metrics that go together stop at a ceiling that they used to pass
  kLeak,        // one metric grows slowly, then falls back
};
constexpr std::size_t kIncidents = 4;
std::string_view nameOf(Incident kind);

struct Occurrence {
  Incident kind = Incident::kSpike;
  std::size_t begin = 0;  // samples
  std::size_t end = 0;    // the first sample that is as usual again
  std::vector<std::size_t> metrics;
};

struct Run {
  std::size_t metrics = 0;
  std::size_t samples = 0;
  std::vector<double> values;  // sample by sample
  std::vector<Occurrence> occurrences;

  std::span<const double> sample(std::size_t number) const {
    return {values.data() + number * metrics, metrics};
  }
};

struct RunShape {
  std::size_t metrics = 32;
  std::size_t samples = 6 * 3600;  // one per second
  std::size_t quiet = 1200;        // at the beginning
  bool incidents = true;
};

// Makes metrics of different sizes and units, each with its own noise. They follow a common load (a
// day's curve with faster changes on top), a second and a third cause to different degrees. Some
// have only noise, some have bursts of their own, and some never change.
Run makeRun(const RunShape& shape, std::uint64_t seed);

}  // namespace pingloom::bench
