// What the controller counts for Prometheus: how long the exchanges of a probe took, by part, in
// classic histograms. Values; any thread. LatencyShape is immutable.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/vocabulary.h"

namespace pingloom::controller {

struct GridPlan;

constexpr std::array<std::string_view, 4> kLatencyPartNames = {"network", "responder", "prober",
                                                               "rtt"};
// Whether the probe measures this part; it has a histogram then.
constexpr bool hasPart(Protocol protocol, std::size_t part) {
  return protocol != Protocol::kTcp || part == 0 || part == 3;
}

// Buckets end at 1 us, 2 us, 4 us, ... 1.048576 s; the last one has no end.
constexpr std::size_t kLatencyBuckets = 22;
constexpr double latencyUpperSeconds(std::size_t bucket) {
  return static_cast<double>(std::uint64_t{1000} << bucket) / 1e9;
}
constexpr std::size_t latencyBucketOf(std::uint64_t nanos) {
  if (nanos == 0) return 0;
  const auto bucket = static_cast<std::size_t>(std::bit_width((nanos - 1) / 1000));
  return bucket < kLatencyBuckets ? bucket : kLatencyBuckets - 1;
}
// A histogram is a series for each bucket, the sum and the count.
constexpr std::size_t kSeriesPerHistogram = kLatencyBuckets + 2;

struct LatencyHistogram {
  std::array<std::uint64_t, kLatencyBuckets> buckets{};  // not cumulative
  std::uint64_t sum_ns = 0;                              // saturates

  void add(const LatencyHistogram& other);
};
// One histogram for each part.
using LatencyCell = std::array<LatencyHistogram, kLatencyPartNames.size()>;

// Which histograms there are: one for each probe and part, and with `rollup: LABEL` one for each
// combination of the label's values at source and destination. A probe's exchanges are counted in
// disjoint cells: one for each combination, and cell 0 for all other pairs.
// Bound: kMaxSeries series for all. Probes go first, then combinations, in the pinglist's order and
// by value. What does not fit is left out: its exchanges are still counted for the probe.
struct LatencyShape {
  static constexpr std::size_t kMaxSeries = 10'000;

  struct Combination {
    std::string source;  // the label's values
    std::string destination;

    bool operator==(const Combination&) const = default;
  };
  struct Probe {
    std::string name;
    Protocol protocol = Protocol::kUdp;
    std::string label;                      // "": there is no roll-up
    bool shown = true;                      // false: not even the probe's own histograms fit
    std::vector<Combination> combinations;  // combination i is counted in cell i + 1
    std::size_t left_out = 0;               // combinations that did not fit, pairs or not
    std::vector<std::uint16_t> sources;     // the number of each address's value; 0: none
    std::vector<std::uint16_t> destinations;
    std::vector<std::uint16_t> cells;  // by source value, then destination value
    std::size_t values = 0;            // the number of destination values, and 1 for none

    std::size_t cellOf(std::uint32_t source, std::uint32_t destination) const {
      return cells.empty() ? 0 : cells[sources[source] * values + destinations[destination]];
    }
    std::size_t histograms() const;  // of one cell
  };

  LatencyShape() = default;
  explicit LatencyShape(const GridPlan& plan);

  std::vector<Probe> probes;  // as in the plan
  std::size_t series = 0;
  std::size_t probes_left_out = 0;
  std::size_t combinations_left_out = 0;
};

// The counts at one time. `cells` are by probe.
struct LatencySnapshot {
  std::shared_ptr<const LatencyShape> shape = std::make_shared<LatencyShape>();
  std::vector<std::vector<LatencyCell>> cells;
};

}  // namespace pingloom::controller
