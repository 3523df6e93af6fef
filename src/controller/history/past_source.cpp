#include "controller/history/past_source.h"

#include <algorithm>

#include "controller/history/codec/row_sums.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kNoColumn = SIZE_MAX;
static_assert(kNoFigure == PartReader::kNoSample);

void addPairCounts(const PairCounts& from, PairCounts& into) {
  for (const auto count : {&PairCounts::sent, &PairCounts::received, &PairCounts::lost,
                           &PairCounts::refused, &PairCounts::unreachable}) {
    addSaturating(into.*count, from.*count);
  }
  addSaturating(into.anomalous, from.anomalous);
  into.timed |= from.timed;
}

}  // namespace

PastSource::PastSource(const ProbeGrid& grid, const PastFigure& figure)
    : grid_(grid), figure_(figure) {
  const auto found = std::find(kRowParts.begin(), kRowParts.end(), figure.part);
  if (found != kRowParts.end()) part_ = static_cast<std::size_t>(found - kRowParts.begin());
}

void PastSource::begin() {
  found_ = false;
  rolled_up_ = false;
}

bool PastSource::read(const PastContent& content) {
  if (!content_.open(content.content)) return false;
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    BlockReader& block = content_.block(at);
    if (!block.readCounts()) return false;
    const bool network = part_ == std::size_t{0} || block.countsNeedNetwork();
    if (network && !block.readPart(0)) return false;
    if (part_ && *part_ != 0 && !block.readPart(*part_)) return false;
  }
  return true;
}

// Both lists ascend. Sources of a mesh have nearly the same destinations, so this runs once for
// many of them.
void PastSource::findColumns(const BlockReader& block, Columns& columns) const {
  if (columns.head == block.headsRead()) return;
  columns.head = block.headsRead();
  columns.of.clear();
  columns.first.reset();
  columns.end = 0;
  const auto& known = grid_.destinations;
  const auto& destinations = block.destinations();
  if (destinations.empty()) return;
  auto at = std::lower_bound(known.begin(), known.end(), destinations.front());
  const auto first = static_cast<std::size_t>(at - known.begin());
  bool in_a_row = true;
  for (const IpAddress& destination : destinations) {
    while (at != known.end() && *at < destination) ++at;
    const bool here = at != known.end() && *at == destination;
    in_a_row = in_a_row && here &&
               at == known.begin() + static_cast<std::ptrdiff_t>(first + columns.of.size());
    columns.of.push_back(here ? static_cast<std::size_t>(at - known.begin()) : kNoColumn);
    if (here) columns.end = columns.of.back() + 1;
  }
  if (in_a_row) columns.first = first;
}

void PastSource::add(const PastContent& content) {
  if (!read(content)) {
    ++damaged_;
    return;
  }
  if (content_.head().protocol != grid_.spec.protocol) return;
  columns_.resize(std::max(columns_.size(), content_.blocks()));
  // All columns before this one have been written.
  std::size_t filled = found_ ? grid_.destinations.size() : 0;
  counts_.resize(grid_.destinations.size());
  figures_.resize(grid_.destinations.size());
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    BlockReader& block = content_.block(at);
    const Columns& columns = columns_[at];
    findColumns(block, columns_[at]);
    if (columns.first && *columns.first >= filled) {
      clear(filled, *columns.first);
      block.pairCounts(counts_.data() + *columns.first);
      readFigures(block, figures_.data() + *columns.first);
    } else {
      clear(filled, columns.end);
      takeEach(block, columns);
    }
    filled = std::max(filled, columns.end);
  }
  clear(filled, grid_.destinations.size());
  found_ = true;
  rolled_up_ = rolled_up_ || content_.head().minute;
  window_ = {content.start_utc, content.window, counts_, figures_};
}

void PastSource::clear(std::size_t from, std::size_t end) {
  for (; from < end; ++from) {
    counts_[from] = {};
    figures_[from] = kNoFigure;
  }
}

void PastSource::takeEach(BlockReader& block, const Columns& columns) {
  block_counts_.resize(columns.of.size());
  block_figures_.resize(columns.of.size());
  block.pairCounts(block_counts_.data());
  readFigures(block, block_figures_.data());
  for (std::size_t pair = 0; pair < columns.of.size(); ++pair) {
    if (columns.of[pair] != kNoColumn) take(pair, columns.of[pair]);
  }
}

// Reads the figures of all destinations of the block.
void PastSource::readFigures(BlockReader& block, std::uint64_t* out) {
  if (figure_.jitter) return block.jitter(out);
  const std::size_t pairs = block.destinations().size();
  if (!part_) {
    std::fill_n(out, pairs, kNoFigure);
    return;
  }
  const auto& statistic = figure_.statistic;
  if (statistic == &Summary::mean) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const auto runs = block.samples(*part_, pair);
      out[pair] = runs.empty() ? kNoFigure : summaryOf(runs).mean;
    }
    return;
  }
  const std::uint64_t percent = statistic == &Summary::min   ? 0
                                : statistic == &Summary::p50 ? 50
                                : statistic == &Summary::p95 ? 95
                                : statistic == &Summary::p99 ? 99
                                                             : 100;
  block.percentiles(*part_, percent, out);
}

void PastSource::take(std::size_t pair, std::size_t column) {
  const PairCounts& counts = block_counts_[pair];
  const std::uint64_t figure = block_figures_[pair];
  std::uint64_t& shown = figures_[column];
  if (counts_[column].sent == 0) {
    counts_[column] = counts;
    shown = figure;
    return;
  }
  addPairCounts(counts, counts_[column]);
  if (figure == kNoFigure) return;
  const bool smaller = shown == kNoFigure || figure_.statistic == &Summary::min;
  shown = smaller ? std::min(shown, figure) : std::max(shown, figure);
}

std::optional<PastWindow> PastSource::window() {
  if (!found_) return std::nullopt;
  const bool unknown = figure_.statistic == &Summary::min || figure_.statistic == &Summary::mean;
  if (rolled_up_ && unknown) {
    std::fill(figures_.begin(), figures_.end(), kNoFigure);
  }
  return window_;
}

}  // namespace pingloom::controller
