#include "controller/history/codec/part_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "controller/history/codec/part_forms.h"
#include "controller/history/codec/steps.h"

namespace pingloom::controller {
namespace {

using namespace part_form;

constexpr std::size_t kMaxNumbers = 8U << 20;  // in one column

// Out-of-range steps saturate.
std::uint64_t above(std::uint64_t step, std::uint64_t difference, unsigned merged) {
  const std::uint64_t last = stepsOf(merged) - 1;
  return step > last || difference > last - step ? last : step + difference;
}

}  // namespace

bool PartReader::read(std::string_view section, std::size_t pairs) {
  empty_ = section.empty();
  pairs_ = pairs;
  if (empty_) return true;
  ColumnReader in(section);
  form_ = in.number();
  const std::uint64_t merged = in.number();
  const std::uint64_t tail = form_ == kPercentiles ? in.number() : merged;
  if (!in.ok() || form_ > kPercentiles || tail > kMaxMerged || merged > tail) return false;
  merged_ = static_cast<unsigned>(merged);
  tail_ = static_cast<unsigned>(tail);
  middles_ = middlesOfSteps(merged_).data();
  tails_ = middlesOfSteps(tail_).data();
  return readCounts(in, pairs) && readRest(in) && in.ok() && in.ended();
}

bool PartReader::readCounts(ColumnReader& in, std::size_t pairs) {
  in.column(pairs, counts_);
  if (!in.ok()) return false;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  present_ = 0;
  if (counts_.same()) {
    if (pairs > 0 && counts_[0] > kMax) return false;
    present_ = pairs > 0 && counts_[0] > 0 ? pairs : 0;
  } else {
    for (std::size_t i = 0; i < pairs; ++i) {
      if (counts_[i] > kMax) return false;
      present_ += counts_[i] == 0 ? 0 : 1;
    }
  }
  in.column(present_, firsts_);
  return in.ok();
}

bool PartReader::readRest(ColumnReader& in) {
  places_.clear();
  rest_each_ = 0;
  ups_.resize(kPercentilesAboveMedian);
  if (form_ == kPercentiles) {
    for (Column& up : ups_) in.column(present_, up);
    if (!counts_.same()) findPlaces();
    return in.ok();
  }
  if (form_ == kRuns) in.column(present_, sizes_);
  const std::size_t size =
      counts_.same() && (form_ != kRuns || sizes_.same()) ? restOfAlike() : findPlaces();
  if (size > kMaxNumbers) return false;
  in.column(size, rest_);
  if (form_ == kRuns) in.column(size, times_);
  return in.ok();
}

// Saturates just above the maximum, so that the caller sees it.
std::size_t PartReader::restOf(std::size_t pair, std::size_t present) const {
  if (form_ == kPercentiles) return 0;
  const std::uint64_t size = form_ == kEach ? counts_[pair] - 1 : sizes_[present];
  return std::min<std::uint64_t>(size, kMaxNumbers + 1);
}

// This and findPlaces() find where each pair's numbers begin in rest_, and return how many there
// are altogether. A result above kMaxNumbers means that there are too many.
std::size_t PartReader::restOfAlike() {
  rest_each_ = present_ == 0 ? 0 : restOf(0, 0);
  return rest_each_ * present_;
}

std::size_t PartReader::findPlaces() {
  Place next;
  places_.reserve(counts_.size());
  for (std::size_t i = 0; i < counts_.size() && next.rest <= kMaxNumbers; ++i) {
    places_.push_back(next);
    if (counts_[i] == 0) continue;
    next.rest += restOf(i, next.present);
    ++next.present;
  }
  return next.rest;
}

PartReader::Place PartReader::placeOf(std::size_t pair) const {
  if (!places_.empty()) return places_[pair];
  return {pair, rest_each_ * pair};
}

std::span<const Run> PartReader::of(std::size_t pair) {
  found_.clear();
  if (empty_ || counts_[pair] == 0) return found_;
  const std::uint64_t count = counts_[pair];
  const Place place = placeOf(pair);
  if (form_ == kEach) appendSamples(count, place);
  if (form_ == kRuns) appendRuns(count, place);
  if (form_ == kPercentiles) appendPercentiles(count, place);
  return found_;
}

// Callers ask for millions of pairs at a time, so common forms have loops of their own.
void PartReader::percentiles(std::uint64_t percent, std::uint64_t* out) const {
  if (!empty_ && !places_.empty()) {
    for (std::size_t i = 0; i < pairs_; ++i) {
      const std::uint64_t count = counts_[i];
      out[i] = count == 0 ? kNoSample : sample(places_[i], count, nearestRank(percent, count));
    }
    return;
  }
  const std::uint64_t count = empty_ || pairs_ == 0 ? 0 : counts_[0];
  if (count == 0) {
    std::fill_n(out, pairs_, kNoSample);
    return;
  }
  const std::uint64_t rank = nearestRank(percent, count);
  if (form_ == kEach && rest_.bytes() != nullptr) return samplesOfBytes(rank, out);
  if (form_ == kPercentiles) return samplesOfPercentiles(count, rank, out);
  for (std::size_t i = 0; i < pairs_; ++i) out[i] = sample(placeOf(i), count, rank);
}

// Like sampleOfEach() for every pair. It copies what it needs to locals, because the compiler has
// to assume that `out` points to members.
void PartReader::samplesOfBytes(std::uint64_t rank, std::uint64_t* out) const {
  const std::uint64_t last = stepsOf(merged_) - 1;
  firsts_.read([rank, out, last, ups = rest_.bytes(), each = rest_each_, middles = middles_,
                pairs = pairs_](auto first) {
    const char* up = ups;
    for (std::size_t i = 0; i < pairs; ++i, up += each) {
      std::uint64_t step = std::min(first(i), last);
      for (std::size_t k = 0; k + 1 < rank; ++k) step += static_cast<std::uint8_t>(up[k]);
      out[i] = middles[std::min(step, last)];
    }
  });
}

// Like sampleOfPercentiles() for every pair.
void PartReader::samplesOfPercentiles(std::uint64_t count, std::uint64_t rank,
                                      std::uint64_t* out) const {
  std::size_t above_median = 0;
  if (rank > nearestRank(50, count)) {
    while (rank > nearestRank(kRanks[above_median], count)) ++above_median;
    ++above_median;
  }
  const std::uint64_t last = stepsOf(merged_) - 1;
  firsts_.read([&, middles = middles_, tails = tails_, pairs = pairs_](auto first) {
    for (std::size_t i = 0; i < pairs; ++i) {
      std::uint64_t step = std::min(first(i), last);
      std::uint64_t value = middles[step];
      step >>= tail_ - merged_;
      for (std::size_t k = 0; k < above_median; ++k) {
        step = above(step, ups_[k][i], tail_);
        value = std::max(value, tails[step]);
      }
      out[i] = value;
    }
  });
}

inline std::uint64_t PartReader::sample(Place place, std::uint64_t count,
                                        std::uint64_t rank) const {
  if (form_ == kEach) return sampleOfEach(place, rank);
  if (form_ == kRuns) return sampleOfRuns(place, count, rank);
  return sampleOfPercentiles(place, count, rank);
}

inline std::uint64_t PartReader::sampleOfEach(Place place, std::uint64_t rank) const {
  std::uint64_t up = 0;
  if (const char* const bytes = rest_.bytes()) {
    for (std::size_t i = 0; i + 1 < rank; ++i) {
      up += static_cast<std::uint8_t>(bytes[place.rest + i]);
    }
  } else {
    for (std::size_t i = 0; i + 1 < rank; ++i) up = above(up, rest_[place.rest + i], merged_);
  }
  return middles_[above(firsts_[place.present], up, merged_)];
}

std::uint64_t PartReader::sampleOfRuns(Place place, std::uint64_t count, std::uint64_t rank) const {
  std::uint64_t step = above(firsts_[place.present], 0, merged_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < sizes_[place.present]; ++i) {
    seen += std::min(count - seen, times_[place.rest + i]);
    if (seen >= rank) break;
    step = above(step, rest_[place.rest + i], merged_);
  }
  return middles_[step];
}

inline std::uint64_t PartReader::sampleOfPercentiles(Place place, std::uint64_t count,
                                                     std::uint64_t rank) const {
  std::uint64_t step = above(firsts_[place.present], 0, merged_);
  std::uint64_t value = middles_[step];
  if (rank <= nearestRank(50, count)) return value;
  step >>= tail_ - merged_;
  for (std::size_t i = 0; i < kRanks.size(); ++i) {
    step = above(step, ups_[i][place.present], tail_);
    value = std::max(value, tails_[step]);
    if (rank <= nearestRank(kRanks[i], count)) break;
  }
  return value;
}

void PartReader::push(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  if (!found_.empty() && found_.back().value == value) {
    found_.back().times += static_cast<std::uint32_t>(times);
  } else {
    found_.push_back({value, static_cast<std::uint32_t>(times)});
  }
}

void PartReader::appendSamples(std::size_t count, Place place) {
  std::uint64_t step = above(firsts_[place.present], 0, merged_);
  Run run{middles_[step], 1};
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::uint64_t next = above(step, rest_[place.rest + i], merged_);
    if (next == step) {
      ++run.times;
      continue;
    }
    found_.push_back(run);
    step = next;
    run = {middles_[step], 1};
  }
  found_.push_back(run);
}

void PartReader::appendRuns(std::uint64_t count, Place place) {
  const std::uint64_t size = sizes_[place.present];
  std::uint64_t step = above(firsts_[place.present], 0, merged_);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t times = std::min(count, times_[place.rest + i]);
    push(middles_[step], times);
    count -= times;
    step = above(step, rest_[place.rest + i], merged_);
  }
  push(middles_[step], count);
}

void PartReader::appendPercentiles(std::uint64_t count, Place place) {
  std::uint64_t step = above(firsts_[place.present], 0, merged_);
  std::uint64_t value = middles_[step];
  std::uint64_t seen = nearestRank(50, count);
  push(value, seen);
  step >>= tail_ - merged_;
  for (std::size_t i = 0; i < kRanks.size(); ++i) {
    step = above(step, ups_[i][place.present], tail_);
    value = std::max(value, tails_[step]);
    const std::uint64_t rank = nearestRank(kRanks[i], count);
    push(value, rank - seen);
    seen = rank;
  }
}

}  // namespace pingloom::controller
