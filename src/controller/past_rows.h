// Rows out of reports that the ledger has kept. Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "common/distribution.h"
#include "controller/board.h"
#include "controller/history.h"

namespace pingloom::controller {

// The state that a past row's counts tell; whether an agent was there is past_presence.h's.
PairState pastState(const Row& row);

// A source's window at a past time; nullptr: there is none. Reports that cannot be read count as
// not there.
std::shared_ptr<const SourceSnapshot> pastSnapshot(const ProbeGrid& grid, const IpAddress& source,
                                                   std::span<const PastReport> reports);

// One pair over consecutive windows: counts are added up and distributions merged, so percentiles
// are those of all samples together. jitter is the mean of the windows', by what they received.
class PastPair {
 public:
  explicit PastPair(const IpAddress& destination);

  // Nothing happens where the report has no row of this pair.
  void add(const PastReport& report);

  std::uint64_t windows() const { return windows_; }
  bool empty() const { return row_.sent == 0; }
  // Start of the first and end of the last window; clock and device of the last.
  SourceRows source() const;
  Row row() const;
  void clear();

 private:
  std::string prefix_;  // of the row's bytes
  std::uint64_t windows_ = 0;
  SourceRows last_;
  Nanos first_start_utc_ = 0;
  Row row_;
  std::array<Distribution, 4> parts_;
  double jitter_sum_ = 0;
  std::uint64_t jitter_count_ = 0;
};

}  // namespace pingloom::controller
