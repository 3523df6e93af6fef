#include "controller/history/codec/part_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "controller/history/codec/part_forms.h"
#include "controller/history/codec/steps.h"

namespace pingloom::controller {
namespace {

using namespace part_form;

constexpr std::uint64_t kFewSamples = 16;  // on average; they take less one by one

// The columns behind the counts.
struct Columns {
  std::vector<std::uint16_t> firsts;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint16_t> rest;
  std::vector<std::uint32_t> times;
};

// Each sample has a place of its own, whether or not the one before it has the same step.
void addEach(const SampleBuckets& samples, std::size_t from, std::size_t to, unsigned merged,
             Columns& columns) {
  const std::span<const std::uint16_t> buckets = samples.buckets();
  auto last = static_cast<std::uint16_t>(buckets[from] >> merged);
  columns.firsts.push_back(last);
  columns.rest.insert(columns.rest.end(), samples.timesAt(from) - 1, 0);
  for (std::size_t i = from + 1; i < to; ++i) {
    const auto step = static_cast<std::uint16_t>(buckets[i] >> merged);
    columns.rest.push_back(static_cast<std::uint16_t>(step - last));
    columns.rest.insert(columns.rest.end(), samples.timesAt(i) - 1, 0);
    last = step;
  }
}

// The same for pairs whose buckets have one sample each, as nearly all windows have.
void addEachSingle(const SampleBuckets& samples, unsigned merged, Columns& columns) {
  columns.rest.resize(samples.total());
  const std::uint16_t* bucket = samples.buckets().data();
  std::uint16_t* next = columns.rest.data();
  for (const std::uint64_t count : samples.counts()) {
    if (count == 0) continue;
    columns.firsts.push_back(static_cast<std::uint16_t>(bucket[0] >> merged));
    for (std::size_t i = 1; i < count; ++i) {
      *next++ = static_cast<std::uint16_t>((bucket[i] >> merged) - (bucket[i - 1] >> merged));
    }
    bucket += count;
  }
  columns.rest.resize(static_cast<std::size_t>(next - columns.rest.data()));
}

void addRuns(const SampleBuckets& samples, std::size_t from, std::size_t to, unsigned merged,
             Columns& columns) {
  auto last = static_cast<std::uint16_t>(samples.buckets()[from] >> merged);
  std::uint32_t times = samples.timesAt(from);
  std::uint32_t size = 0;
  columns.firsts.push_back(last);
  for (std::size_t i = from + 1; i < to; ++i) {
    const auto step = static_cast<std::uint16_t>(samples.buckets()[i] >> merged);
    if (step != last) {
      columns.rest.push_back(static_cast<std::uint16_t>(step - last));
      columns.times.push_back(times);
      times = 0;
      ++size;
      last = step;
    }
    times += samples.timesAt(i);
  }
  columns.sizes.push_back(size);
}

void addPairs(const SampleBuckets& samples, std::uint64_t form, unsigned merged, Columns& columns) {
  if (form == kEach && samples.single()) return addEachSingle(samples, merged, columns);
  std::size_t from = 0;
  for (std::size_t i = 0; i < samples.pairs(); ++i) {
    const std::size_t to = samples.endOf(i);
    if (from == to) continue;
    if (form == kEach) {
      addEach(samples, from, to, merged, columns);
    } else {
      addRuns(samples, from, to, merged, columns);
    }
    from = to;
  }
}

}  // namespace

void encodeSamples(const SampleBuckets& samples, unsigned merged, ColumnWriter& out) {
  if (samples.total() == 0) return;
  const std::vector<std::uint64_t>& counts = samples.counts();
  const std::size_t present =
      counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0));
  const std::uint64_t form = samples.total() <= kFewSamples * present ? kEach : kRuns;
  Columns columns;
  columns.firsts.reserve(present);
  addPairs(samples, form, merged, columns);
  out.number(form);
  out.number(merged);
  out.column(counts);
  out.column(columns.firsts);
  out.column(columns.sizes);
  out.column(columns.rest);
  out.column(columns.times);
}

void encodePercentiles(std::span<const Summary> pairs, unsigned merged, unsigned tail,
                       ColumnWriter& out) {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> medians;
  std::array<std::vector<std::uint64_t>, kPercentilesAboveMedian> ups;
  for (const Summary& pair : pairs) {
    // A larger count would be refused by the reader.
    counts.push_back(
        std::min<std::uint64_t>(pair.count, std::numeric_limits<std::uint32_t>::max()));
    if (pair.count == 0) continue;
    medians.push_back(stepOf(pair.p50, merged));
    std::uint32_t last = stepOf(pair.p50, tail);
    std::size_t column = 0;
    for (const std::uint64_t value : {pair.p95, pair.p99, pair.max}) {
      const std::uint32_t step = std::max(last, stepOf(value, tail));
      ups[column++].push_back(step - last);
      last = step;
    }
  }
  if (medians.empty()) return;
  out.number(kPercentiles);
  out.number(merged);
  out.number(tail);
  out.column(counts);
  out.column(medians);
  for (const auto& column : ups) out.column(column);
}

}  // namespace pingloom::controller
