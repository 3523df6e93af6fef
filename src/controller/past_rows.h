// Rows out of blocks that the ledger has kept. A block that is damaged counts as not there, and is
// counted in `damaged`. One thread per object.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/distribution.h"
#include "controller/board.h"
#include "controller/history.h"
#include "controller/history/block.h"
#include "controller/history/row_sums.h"

namespace pingloom::controller {

// The state that a past row's counts tell; whether an agent was there is past_presence.h's.
PairState pastState(const Row& row);

// A source's window at a past time, for one source after the other.
class PastSource {
 public:
  // `part`: of a row, whose figure `statistic` is wanted; nullptr: none is.
  PastSource(const ProbeGrid& grid, Summary Row::*part, std::uint64_t Summary::*statistic);

  void begin();  // another source
  // Rows of a pair that came in several parts are added up, and each percentile is the larger one.
  void add(const PastBlock& block);
  // Once; nullptr: there is no window. Of the summaries there is the one wanted, without its mean
  // where that was not asked for; none of minutes, which have neither minimum nor mean, if it was.
  std::shared_ptr<const SourceSnapshot> snapshot();

  std::uint64_t damaged() const { return damaged_; }

 private:
  bool read(const PastBlock& block);
  void take(std::size_t pair, Row& row);

  const ProbeGrid& grid_;
  std::optional<std::size_t> part_;  // of kRowParts
  Summary Row::*summary_;
  std::uint64_t Summary::*statistic_;
  BlockReader reader_;
  bool found_ = false;
  bool rolled_up_ = false;
  std::shared_ptr<SourceRows> rows_;
  std::uint64_t damaged_ = 0;
};

// One pair over consecutive windows: counts are added up and distributions merged, so percentiles
// are those of all samples together. Of minutes their percentiles are all that is known of the
// samples: each is taken for the one above it, so that the merged ones are never too low.
class PastPair {
 public:
  explicit PastPair(const IpAddress& destination) : destination_(destination) {}

  // Nothing happens where the block has no row of this pair.
  void add(const PastBlock& block);

  std::uint64_t windows() const { return windows_; }
  bool empty() const { return row_.sent == 0; }
  // Start of the first and end of the last window; clock and device of the last.
  SourceRows source() const;
  Row row() const;
  // Whether minutes are in it: the row has neither minimum nor mean.
  bool rolledUp() const { return rolled_up_; }
  void clear();

  std::uint64_t damaged() const { return damaged_; }

 private:
  const IpAddress destination_;
  BlockReader reader_;
  std::uint64_t windows_ = 0;
  SourceRows last_;
  Nanos first_start_utc_ = 0;
  bool rolled_up_ = false;  // some of the windows
  Row row_;
  MeanJitter jitter_;
  std::array<Distribution, kRowParts.size()> parts_;
  std::uint64_t damaged_ = 0;
};

}  // namespace pingloom::controller
