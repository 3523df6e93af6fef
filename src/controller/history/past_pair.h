// A pair's rows out of contents that the ledger has kept. One that is damaged counts as not
// there, and is counted in `damaged`. One thread per object.
#pragma once

#include <array>
#include <cstdint>

#include "common/distribution.h"
#include "controller/history/codec/content.h"
#include "controller/history/codec/row_sums.h"
#include "controller/history/history.h"
#include "controller/model/board.h"

namespace pingloom::controller {

// One pair over consecutive windows: counts are added up and distributions merged, so percentiles
// are those of all samples together. Of minutes their percentiles are all that is known of the
// samples: each is taken for the one above it, so that the merged ones are never too low.
class PastPair {
 public:
  explicit PastPair(const IpAddress& destination) : destination_(destination) {}

  // Nothing happens where it has no row of this pair.
  void add(const PastContent& content);

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
  void take(const PastContent& content, BlockReader& block, std::size_t pair);

  const IpAddress destination_;
  ContentReader content_;
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
