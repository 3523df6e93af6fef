// The section of a block that holds what has no samples: counts, anomalies by reason, jitter.
// Counts are kept as they are; jitter in steps. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "controller/history/codec/columns.h"
#include "controller/history/codec/part_codec.h"
#include "controller/model/board.h"
#include "controller/model/state.h"

namespace pingloom::controller {

void encodeCounts(std::span<const Row> rows, unsigned jitter_merged, ColumnWriter& out);

// Its bytes have to live as long as it reads; its memory is used again.
class CountReader {
 public:
  bool read(std::string_view section, std::size_t pairs);  // false: malformed
  // Everything of the row but its summaries.
  void fill(std::size_t pair, Row& row) const;
  // Less of it, of all pairs. How many network samples they have is in another section:
  // `network_samples` are written to all. REQUIRES: `out` has room for all pairs.
  void counts(std::uint64_t network_samples, PairCounts* out) const;
  void jitter(std::uint64_t* out) const;  // likewise; kNoSample where there is none

 private:
  std::optional<std::uint64_t> jitterOf(std::uint64_t value) const;

  void set(std::size_t column, std::uint64_t value, Row& row) const;

  std::array<Column, kRowCounts.size() + kAnomalies + 1> columns_;  // the last one is jitter
  std::vector<std::size_t> differing_;                              // columns
  Row same_;  // what all pairs have alike; its summaries stay empty
  unsigned jitter_merged_ = 0;
};

}  // namespace pingloom::controller
