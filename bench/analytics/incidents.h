// Makes the samples of a synthetic service, and incidents in them whose time, metrics and kind are
// known. The same seed gives the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "service.h"

namespace pingloom::bench {

enum class Incident : std::uint8_t {
  kDrift,       // one metric moves away slowly
  kJitter,      // one metric scatters more
  kFlatline,    // one metric stays at its last value
  kOutage,      // most of the traffic is gone
  kGray,        // latencies grow and nothing else does
  kDecoupled,   // one metric follows another load
  kLevelShift,  // one metric moves at once
  kReplica,     // one of four replicas is slow
};
constexpr std::size_t kIncidents = 8;
std::string_view nameOf(Incident kind);

struct Occurrence {
  Incident kind = Incident::kDrift;
  std::size_t begin = 0;  // samples
  std::size_t end = 0;    // the first sample that is as usual again
  std::vector<std::size_t> metrics;
};

struct Run {
  std::size_t metrics = kMetrics;
  std::size_t samples = 0;
  std::size_t history = 0;     // samples before the first that counts
  std::vector<double> values;  // sample by sample
  std::vector<Occurrence> occurrences;

  std::span<const double> sample(std::size_t number) const {
    return {values.data() + number * metrics, metrics};
  }
};

struct RunShape {
  std::size_t samples = 24 * 3600;  // one per second, without the history
  std::size_t history = 0;
  std::size_t quiet = 1200;  // before the first incident
  bool incidents = true;
};

Run makeRun(const RunShape& shape, std::uint64_t seed);

}  // namespace pingloom::bench
