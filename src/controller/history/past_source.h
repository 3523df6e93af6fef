// A source's window at a past time, from contents that the ledger has kept, with no more of each
// pair than a grid shows. One thread per object.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "controller/history/codec/content.h"
#include "controller/history/history.h"
#include "controller/model/board.h"
#include "controller/model/state.h"

namespace pingloom::controller {

// The figure that is wanted of each pair besides its counts: a statistic, jitter, or none.
struct PastFigure {
  Summary Row::*part = nullptr;  // the part that `statistic` belongs to
  std::uint64_t Summary::*statistic = nullptr;
  bool jitter = false;
};

constexpr std::uint64_t kNoFigure = UINT64_MAX;

struct PastWindow {
  Nanos start_utc = 0;
  Nanos length = 0;
  // Each has one element for each destination of the grid.
  std::span<const PairCounts> counts;      // sent == 0: no row
  std::span<const std::uint64_t> figures;  // kNoFigure: there is none

  Nanos endUtc() const { return start_utc + length; }
};

// Serves one source after the other and reuses its memory. Damaged contents are skipped and counted
// in damaged().
class PastSource {
 public:
  PastSource(const ProbeGrid& grid, const PastFigure& figure);

  void begin();  // starts another source
  // Adds up the rows of a pair that was delivered in several parts, and keeps the larger of their
  // figures, or the smaller of two minima.
  void add(const PastContent& content);
  // nullopt: there is no window. It is valid until the next begin(). A minute has neither minimum
  // nor mean.
  std::optional<PastWindow> window();

  std::uint64_t damaged() const { return damaged_; }

 private:
  // The columns of the grid that a block's pairs belong to.
  struct Columns {
    std::vector<std::size_t> of;       // for each pair
    std::optional<std::size_t> first;  // the first column, if they are consecutive
    std::size_t end = 0;               // one past the last column
    std::uint64_t head = 0;            // the reader's headsRead() that they were found for
  };

  bool read(const PastContent& content);
  void findColumns(const BlockReader& block, Columns& columns) const;
  void readFigures(BlockReader& block, std::uint64_t* out);
  void clear(std::size_t from, std::size_t end);  // empties these columns
  void takeEach(BlockReader& block, const Columns& columns);
  void take(std::size_t pair, std::size_t column);

  const ProbeGrid& grid_;
  const PastFigure figure_;
  std::optional<std::size_t> part_;  // an index into kRowParts
  ContentReader content_;
  std::vector<Columns> columns_;  // for the content's blocks, in their order
  bool found_ = false;
  bool rolled_up_ = false;
  PastWindow window_;
  std::vector<PairCounts> counts_;
  std::vector<std::uint64_t> figures_;
  std::vector<PairCounts> block_counts_;  // by pair, of a block that is not taken as a whole
  std::vector<std::uint64_t> block_figures_;
  std::uint64_t damaged_ = 0;
};

}  // namespace pingloom::controller
