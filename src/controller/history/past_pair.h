// One pair's rows from contents that the ledger has kept. Damaged contents are skipped and counted
// in damaged(). One thread per object.
#pragma once

#include <array>
#include <cstdint>

#include "common/distribution.h"
#include "controller/history/codec/content.h"
#include "controller/history/codec/row_sums.h"
#include "controller/history/history.h"
#include "controller/model/board.h"

namespace pingloom::controller {

// Merges consecutive windows of one pair: counts are added up and distributions merged, so that
// percentiles are those of all samples together. A minute has no samples but only percentiles:
// each sample counts as the percentile above it, so that merged percentiles are never too low.
class PastPair {
 public:
  explicit PastPair(const IpAddress& destination) : destination_(destination) {}

  // Ignores a content that has no row of this pair.
  void add(const PastContent& content);

  std::uint64_t windows() const { return windows_; }
  bool empty() const { return row_.sent == 0; }
  // It has the start of the first window and the end of the last, and the clock and device of the
  // last.
  SourceRows source() const;
  Row row() const;
  // Whether a minute was merged; the row has neither minimum nor mean then.
  bool rolledUp() const { return rolled_up_; }
  void clear();

  std::uint64_t damaged() const { return damaged_; }

 private:
  void take(const PastContent& content, BlockReader& block, std::size_t pair);

  const IpAddress destination_;
  ContentReader content_;
  std::uint64_t windows_ = 0;
  SourceRows last_;
  Nanos first_start_utc_ = 0;
  bool rolled_up_ = false;  // a minute was merged
  Row row_;
  MeanJitter jitter_;
  std::array<Distribution, kRowParts.size()> parts_;
  std::uint64_t damaged_ = 0;
};

}  // namespace pingloom::controller
