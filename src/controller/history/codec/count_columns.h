// The section of a block that holds counts, anomalies by reason and jitter. Counts are exact;
// jitter is kept in steps. One thread per object.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "controller/history/codec/columns.h"
#include "controller/history/codec/part_reader.h"
#include "controller/model/board.h"
#include "controller/model/state.h"

namespace pingloom::controller {

// Consecutive pairs with the same counts. Most pairs of a source have the same.
struct CountRun {
  PairCounts counts;
  std::size_t end = 0;  // one past the last pair; the run begins where the one before ends
};
// Appends `pairs` pairs, and joins them to the last run if its counts are the same.
void appendRun(const PairCounts& counts, std::size_t pairs, std::vector<CountRun>& runs);

void encodeCounts(std::span<const Row> rows, unsigned jitter_merged, ColumnWriter& out);

// The bytes must live as long as they are read; memory is reused.
class CountReader {
 public:
  bool read(std::string_view section, std::size_t pairs);  // false: malformed
  // Fills everything of the row but its summaries.
  void fill(std::size_t pair, Row& row) const;
  // The counts of a pair. Whether it has a network time is in another section.
  PairCounts counts(std::size_t pair) const;
  // Sets the marks of all pairs whose counts may differ from those of the pair before.
  void markChanges(std::uint8_t* marks) const;
  // Whether the counts alone show that each pair with an answer has a network time: an exchange has
  // one unless it is anomalous or its ACK was lost.
  bool showTimed() const;
  void jitter(std::uint64_t* out) const;  // for all pairs; kNoSample: there is none

 private:
  std::optional<std::uint64_t> jitterOf(std::uint64_t value) const;

  void set(std::size_t column, std::uint64_t value, Row& row) const;

  std::array<Column, kRowCounts.size() + kAnomalies + 1> columns_;  // the last one is jitter
  std::vector<std::size_t> differing_;  // the columns whose pairs differ
  Row same_;                            // what all pairs have in common; its summaries stay empty
  unsigned jitter_merged_ = 0;
};

}  // namespace pingloom::controller
