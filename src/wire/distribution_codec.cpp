#include "wire/distribution_codec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "common/histogram.h"

namespace pingloom::wire {
namespace {

constexpr std::uint64_t kMaxSample = std::numeric_limits<std::uint32_t>::max();

using Samples = std::array<std::uint32_t, Distribution::kExactSamples>;

// Reads the samples in ascending order and returns their number.
Result<std::size_t> readSamples(const SampleSetView& set, Samples& samples) {
  if (set.sample_deltas.size() > samples.size()) {
    return makeError("sample set", "too many samples");
  }
  std::uint64_t value = 0;
  std::size_t count = 0;
  for (const std::uint32_t delta : set.sample_deltas) {
    value += delta;
    if (value > kMaxSample) return makeError("sample set", "sample out of range");
    samples[count++] = static_cast<std::uint32_t>(value);
  }
  return count;
}

Result<Distribution> decodeSamples(const SampleSetView& set) {
  Samples samples;
  const auto count = readSamples(set, samples);
  if (!count) return tl::unexpected(count.error());
  return Distribution::fromSamples({samples.data(), samples.data() + *count});
}

Result<Distribution> decodeBuckets(const SampleSetView& set) {
  if (set.bucket_deltas.size() != set.bucket_counts.size() || !set.sample_deltas.empty()) {
    return makeError("sample set", "buckets and counts do not match");
  }
  std::vector<Distribution::Bucket> buckets;
  std::uint64_t bucket = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < set.bucket_deltas.size(); ++i) {
    if (i > 0 && set.bucket_deltas[i] == 0) return makeError("sample set", "buckets out of order");
    bucket += set.bucket_deltas[i];
    count += set.bucket_counts[i];
    if (bucket >= histogram::kBuckets || set.bucket_counts[i] == 0 || count > kMaxSample) {
      return makeError("sample set", "bucket out of range");
    }
    buckets.emplace_back(static_cast<std::uint16_t>(bucket), set.bucket_counts[i]);
  }
  if (count == 0 || set.min > set.max || set.sum / count > set.max || set.sum / count < set.min) {
    return makeError("sample set", "minimum, mean and maximum contradict each other");
  }
  return Distribution::fromBuckets(std::move(buckets), set.sum, set.min, set.max);
}

void encodeSorted(const std::vector<std::uint32_t>& samples, SampleSet& out) {
  std::uint32_t last = 0;
  for (const std::uint32_t sample : samples) {
    out.add_sample_deltas(sample - last);
    last = sample;
  }
}

}  // namespace

void encode(const Distribution& distribution, SampleSet& out) {
  if (distribution.exact()) {
    const std::vector<std::uint32_t>& samples = distribution.samples();
    // Those of a history are sorted.
    if (std::is_sorted(samples.begin(), samples.end())) return encodeSorted(samples, out);
    std::vector<std::uint32_t> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    return encodeSorted(sorted, out);
  }
  std::uint32_t last = 0;
  for (const auto& [bucket, times] : distribution.buckets()) {
    out.add_bucket_deltas(bucket - last);
    out.add_bucket_counts(times);
    last = bucket;
  }
  out.set_sum(distribution.sum());
  out.set_min(distribution.min());
  out.set_max(distribution.max());
}

Result<Distribution> decode(const SampleSetView& set) {
  return set.bucket_deltas.empty() ? decodeSamples(set) : decodeBuckets(set);
}

Result<Summary> decodeSummary(const SampleSetView& set) {
  if (!set.bucket_deltas.empty()) {
    const auto distribution = decodeBuckets(set);
    if (!distribution) return tl::unexpected(distribution.error());
    return distribution->summary();
  }
  Samples samples;
  const auto count = readSamples(set, samples);
  if (!count) return tl::unexpected(count.error());
  return summarizeSorted({samples.data(), *count});
}

}  // namespace pingloom::wire
