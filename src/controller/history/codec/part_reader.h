// Reads the section of a block that holds one part's samples (part_writer.h). One thread per
// object.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/distribution.h"
#include "controller/history/codec/columns.h"
#include "controller/history/codec/samples.h"

namespace pingloom::controller {

// Reads all three forms. The bytes must live as long as they are read; memory is reused.
class PartReader {
 public:
  // False: the section is malformed. An empty section has no samples.
  bool read(std::string_view section, std::size_t pairs);
  std::uint64_t count(std::size_t pair) const { return empty_ ? 0 : counts_[pair]; }
  // Sets the marks of all pairs that do not have as many samples as the pair before.
  void markChanges(std::uint8_t* marks) const {
    if (!empty_) counts_.markChanges(marks);
  }
  // The samples of a pair, ascending. Percentiles give as many samples as the pair had, each with
  // the value of the percentile above it. The result is valid until the next call.
  std::span<const Run> of(std::size_t pair);
  // For each pair the sample at this percentile, the lowest one for 0; kNoSample: there is none.
  static constexpr std::uint64_t kNoSample = UINT64_MAX;
  // REQUIRES: `out` has room for all pairs.
  void percentiles(std::uint64_t percent, std::uint64_t* out) const;

 private:
  // The position of a pair's numbers in the columns.
  struct Place {
    std::size_t present = 0;  // among the pairs that have samples
    std::size_t rest = 0;     // in the columns that have several for a pair
  };
  bool readCounts(ColumnReader& in, std::size_t pairs);
  bool readRest(ColumnReader& in);
  std::size_t restOf(std::size_t pair, std::size_t present) const;
  std::size_t restOfAlike();
  std::size_t findPlaces();
  Place placeOf(std::size_t pair) const;
  // The `rank`-th smallest of `count` samples, counted from 1.
  std::uint64_t sample(Place place, std::uint64_t count, std::uint64_t rank) const;
  std::uint64_t sampleOfEach(Place place, std::uint64_t rank) const;
  void samplesOfBytes(std::uint64_t rank, std::uint64_t* out) const;
  void samplesOfPercentiles(std::uint64_t count, std::uint64_t rank, std::uint64_t* out) const;
  std::uint64_t sampleOfRuns(Place place, std::uint64_t count, std::uint64_t rank) const;
  std::uint64_t sampleOfPercentiles(Place place, std::uint64_t count, std::uint64_t rank) const;
  void appendSamples(std::size_t count, Place place);
  void appendRuns(std::uint64_t count, Place place);
  void appendPercentiles(std::uint64_t count, Place place);
  void push(std::uint64_t value, std::uint64_t times);

  bool empty_ = true;
  std::size_t pairs_ = 0;
  std::uint64_t form_ = 0;
  unsigned merged_ = 0;
  unsigned tail_ = 0;
  const std::uint64_t* middles_ = nullptr;  // the middles of steps of merged_
  const std::uint64_t* tails_ = nullptr;    // the middles of steps of tail_
  std::size_t present_ = 0;                 // pairs that have samples
  std::size_t rest_each_ = 0;               // numbers in rest_ of each pair, if all have as many
  Column counts_;
  Column firsts_;              // the lowest step, or the median's
  Column sizes_;               // runs: the number that follow the first
  Column rest_;                // samples and runs: steps above the one before
  Column times_;               // runs: lengths of all but the last
  std::vector<Column> ups_;    // percentiles: steps above the one before
  std::vector<Place> places_;  // empty: the same numbers for every pair
  std::vector<Run> found_;
};

}  // namespace pingloom::controller
