#include "controller/control/latency_histograms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/histogram.h"

namespace pingloom::controller {
namespace {

// Counts ascending values. Most of a window's samples are in the same bucket, so its count is
// written once.
class AscendingCounter {
 public:
  explicit AscendingCounter(LatencyHistogram& into) : into_(into) {}
  ~AscendingCounter() { into_.buckets[bucket_] += count_; }
  AscendingCounter(const AscendingCounter&) = delete;
  AscendingCounter& operator=(const AscendingCounter&) = delete;

  void add(std::uint64_t value, std::uint64_t times) {
    if (value > upper_) next(value);
    count_ += times;
  }

 private:
  void next(std::uint64_t value) {
    into_.buckets[bucket_] += std::exchange(count_, 0);
    bucket_ = latencyBucketOf(value);
    upper_ = bucket_ + 1 == kLatencyBuckets ? UINT64_MAX : std::uint64_t{1000} << bucket_;
  }

  LatencyHistogram& into_;
  std::size_t bucket_ = 0;
  std::uint64_t upper_ = 1000;
  std::uint64_t count_ = 0;
};

void addSum(std::uint64_t sum, LatencyHistogram& into) {
  if (__builtin_add_overflow(into.sum_ns, sum, &into.sum_ns)) into.sum_ns = UINT64_MAX;
}

void addSet(const wire::SampleSetView& set, LatencyHistogram& into) {
  AscendingCounter counter(into);
  if (set.bucket_deltas.empty()) {
    std::uint64_t value = 0;
    std::uint64_t sum = 0;
    for (const std::uint32_t delta : set.sample_deltas) {
      value += delta;
      sum += value;
      counter.add(value, 1);
    }
    return addSum(sum, into);
  }
  std::uint32_t bucket = 0;
  for (std::size_t i = 0; i < set.bucket_deltas.size(); ++i) {
    bucket += set.bucket_deltas[i];
    counter.add(histogram::bucketMiddle(bucket), set.bucket_counts[i]);
  }
  addSum(set.sum, into);
}

// Takes over the counts of a probe's cells.
void carryOver(const LatencyShape::Probe& old_shape, const std::vector<LatencyCell>& old,
               const LatencyShape::Probe& shape, std::vector<LatencyCell>& cells) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  if (old_shape.label == shape.label) {
    for (std::size_t i = 0; i < shape.combinations.size(); ++i) {
      known[{shape.combinations[i].source, shape.combinations[i].destination}] = i + 1;
    }
  }
  for (std::size_t i = 0; i < old.size(); ++i) {
    std::size_t to = 0;
    if (i > 0) {
      const LatencyShape::Combination& combination = old_shape.combinations[i - 1];
      const auto found = known.find({combination.source, combination.destination});
      to = found == known.end() ? 0 : found->second;
    }
    for (std::size_t part = 0; part < cells[to].size(); ++part) cells[to][part].add(old[i][part]);
  }
}

}  // namespace

void LatencyHistograms::setPlan(const GridPlan& plan) {
  auto shape = std::make_shared<const LatencyShape>(plan);
  std::vector<std::vector<LatencyCell>> cells(shape->probes.size());
  std::map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < shape_->probes.size(); ++i) known[shape_->probes[i].name] = i;
  std::size_t most = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const LatencyShape::Probe& probe = shape->probes[i];
    cells[i].resize(probe.combinations.size() + 1);
    most = std::max(most, cells[i].size());
    const auto found = known.find(probe.name);
    if (found == known.end() || shape_->probes[found->second].protocol != probe.protocol) continue;
    carryOver(shape_->probes[found->second], cells_[found->second], probe, cells[i]);
  }
  shape_ = std::move(shape);
  cells_ = std::move(cells);
  staged_.assign(most, {});
  is_touched_.assign(most, false);
  touched_.clear();
  touched_.reserve(most);
  changed_ = true;
}

void LatencyHistograms::begin(std::uint32_t probe, std::uint32_t source) {
  for (const std::uint16_t cell : touched_) {
    staged_[cell] = {};
    is_touched_[cell] = false;
  }
  touched_.clear();
  probe_ = probe;
  source_ = source;
}

void LatencyHistograms::add(std::uint32_t destination, const wire::RowView& row) {
  const std::size_t cell = shape_->probes[probe_].cellOf(source_, destination);
  if (!is_touched_[cell]) {
    is_touched_[cell] = true;
    touched_.push_back(static_cast<std::uint16_t>(cell));
  }
  LatencyCell& staged = staged_[cell];
  for (std::size_t part = 0; part < staged.size(); ++part) {
    addSet(row.*wire::kRowViewParts[part], staged[part]);
  }
}

void LatencyHistograms::commit() {
  for (const std::uint16_t cell : touched_) {
    LatencyCell& into = cells_[probe_][cell];
    for (std::size_t part = 0; part < into.size(); ++part) into[part].add(staged_[cell][part]);
  }
  changed_ = changed_ || !touched_.empty();
  begin(probe_, source_);
}

std::shared_ptr<const LatencySnapshot> LatencyHistograms::takeChanged() {
  if (!std::exchange(changed_, false)) return nullptr;
  auto made = std::make_shared<LatencySnapshot>();
  made->shape = shape_;
  made->cells = cells_;
  return made;
}

}  // namespace pingloom::controller
