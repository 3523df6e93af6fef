#include "controller/history/codec/samples.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/histogram.h"

namespace pingloom::controller {

std::uint64_t countOf(std::span<const Run> runs) {
  std::uint64_t count = 0;
  for (const Run& run : runs) count += run.times;
  return count;
}

Summary summaryOf(std::span<const Run> runs) {
  Summary made;
  made.count = countOf(runs);
  if (made.count == 0) return made;
  made.min = runs.front().value;
  made.max = runs.back().value;
  const std::array<std::uint64_t, 3> ranks = {
      nearestRank(50, made.count), nearestRank(95, made.count), nearestRank(99, made.count)};
  const std::array<std::uint64_t*, 3> out = {&made.p50, &made.p95, &made.p99};
  std::uint64_t seen = 0;
  std::uint64_t sum = 0;
  std::size_t next = 0;
  for (const Run& run : runs) {
    seen += run.times;
    sum += run.value * run.times;
    while (next < ranks.size() && seen >= ranks[next]) *out[next++] = run.value;
  }
  made.mean = sum / made.count;
  return made;
}

void addTo(Distribution& distribution, std::span<const Run> runs) {
  if (countOf(runs) <= Distribution::kExactSamples) {
    std::array<std::uint64_t, Distribution::kExactSamples> values;
    auto end = values.begin();
    for (const Run& run : runs) end = std::fill_n(end, run.times, run.value);
    return distribution.addAscending({values.begin(), end});
  }
  std::vector<Distribution::Bucket> buckets;
  std::uint64_t sum = 0;
  for (const Run& run : runs) {
    const auto bucket = static_cast<std::uint16_t>(histogram::bucketOf(run.value));
    sum += run.value * run.times;
    if (!buckets.empty() && buckets.back().first == bucket) {
      buckets.back().second += run.times;
    } else {
      buckets.emplace_back(bucket, run.times);
    }
  }
  distribution.merge(
      Distribution::fromBuckets(std::move(buckets), sum, runs.front().value, runs.back().value));
}

}  // namespace pingloom::controller
