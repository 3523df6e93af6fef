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
  // Each covers all destinations of the grid.
  std::span<const CountRun> counts;        // sent == 0: no row
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
  // Consecutive pairs of a block that belong to consecutive columns of the grid. Other pairs of the
  // block belong to none.
  struct Stretch {
    std::size_t pair = 0;    // the first one
    std::size_t column = 0;  // that of the first one
    std::size_t length = 0;
  };
  struct Columns {
    std::vector<Stretch> stretches;
    std::uint64_t head = 0;  // the reader's headsRead() that they were found for
  };

  bool read(const PastContent& content);
  void findColumns(const BlockReader& block, Columns& columns) const;
  bool ascending() const;  // whether no column of the content is there twice
  void readFigures(BlockReader& block, std::uint64_t* out);
  void take();  // takes the content as it is
  void takeBlock(BlockReader& block, const std::vector<Stretch>& stretches);
  void takeNothing(std::size_t until);  // up to this column
  void merge();                         // adds the content to what is there
  void mergePair(const PairCounts& counts, std::uint64_t figure, std::size_t column);

  const ProbeGrid& grid_;
  const PastFigure figure_;
  std::optional<std::size_t> part_;  // an index into kRowParts
  ContentReader content_;
  std::vector<Columns> columns_;  // for the content's blocks, in their order
  bool found_ = false;
  bool rolled_up_ = false;
  PastWindow window_;
  std::vector<CountRun> counts_;
  std::vector<std::uint64_t> figures_;
  std::vector<CountRun> block_counts_;
  std::vector<std::uint64_t> block_figures_;  // used if not all pairs of the block are in a row
  std::vector<PairCounts> merged_;            // by column
  std::uint64_t damaged_ = 0;
};

}  // namespace pingloom::controller
