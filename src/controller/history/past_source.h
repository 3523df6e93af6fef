// A source's window at a past time, out of contents that the ledger has kept: of each pair no more
// than a grid shows. One thread per object.
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

// What is wanted of each pair beside its counts; nothing unless one of the two says so.
struct PastFigure {
  Summary Row::*part = nullptr;  // its `statistic`
  std::uint64_t Summary::*statistic = nullptr;
  bool jitter = false;
};

constexpr std::uint64_t kNoFigure = UINT64_MAX;

struct PastWindow {
  Nanos start_utc = 0;
  Nanos length = 0;
  // One for each destination of the grid.
  std::span<const PairCounts> counts;      // sent == 0: no row
  std::span<const std::uint64_t> figures;  // kNoFigure: none

  Nanos endUtc() const { return start_utc + length; }
};

// For one source after the other; memory is used again. A content that is damaged counts as not
// there, and is counted in `damaged`.
class PastSource {
 public:
  PastSource(const ProbeGrid& grid, const PastFigure& figure);

  void begin();  // another source
  // Rows of a pair that came in several parts are added up; of their figures the larger one is
  // shown, of minima the smaller.
  void add(const PastContent& content);
  // nullopt: there is none. Valid until the next begin(). Minutes have neither minimum nor mean.
  std::optional<PastWindow> window();

  std::uint64_t damaged() const { return damaged_; }

 private:
  // Where a block's pairs are in the grid.
  struct Columns {
    std::vector<std::size_t> of;       // for each pair
    std::optional<std::size_t> first;  // where they follow each other: of the first
    std::size_t end = 0;               // behind the last
    std::uint64_t head = 0;            // the reader's, of which they are
  };

  bool read(const PastContent& content);
  void findColumns(const BlockReader& block, Columns& columns) const;
  void readFigures(BlockReader& block, std::uint64_t* out);
  void clear(std::size_t from, std::size_t end);  // columns: nothing is known of them
  void takeEach(BlockReader& block, const Columns& columns);
  void take(std::size_t pair, std::size_t column);

  const ProbeGrid& grid_;
  const PastFigure figure_;
  std::optional<std::size_t> part_;  // of kRowParts
  ContentReader content_;
  std::vector<Columns> columns_;  // of the content's blocks, by their places
  bool found_ = false;
  bool rolled_up_ = false;
  PastWindow window_;
  std::vector<PairCounts> counts_;
  std::vector<std::uint64_t> figures_;
  std::vector<PairCounts> block_counts_;  // of a block that is not taken as a whole, by pair
  std::vector<std::uint64_t> block_figures_;
  std::uint64_t damaged_ = 0;
};

}  // namespace pingloom::controller
