#include "controller/past_source.h"

#include <algorithm>

#include "controller/history/row_sums.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kNoColumn = SIZE_MAX;
static_assert(kNoFigure == PartReader::kNoSample);

void addPairCounts(const PairCounts& from, PairCounts& into) {
  for (const auto count : {&PairCounts::sent, &PairCounts::received, &PairCounts::lost,
                           &PairCounts::refused, &PairCounts::unreachable}) {
    addSaturating(into.*count, from.*count);
  }
  into.anomalous += from.anomalous;
  into.network_samples += from.network_samples;
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
    const bool part_read = !part_ || *part_ == 0 || block.readPart(*part_);
    if (!part_read || !block.readCounts() || !block.readPart(0)) return false;
  }
  return true;
}

// Both lists ascend. Sources of a mesh have nearly the same destinations: this is done once for
// many.
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
  if (!found_) {
    counts_.assign(grid_.destinations.size(), {});
    figures_.assign(grid_.destinations.size(), kNoFigure);
  }
  // From this column on there is nothing of this source yet.
  std::size_t untouched = found_ ? SIZE_MAX : 0;
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    BlockReader& block = content_.block(at);
    findColumns(block, columns_[at]);
    block.pairCounts(block_counts_);
    readFigures(block);
    takeAll(columns_[at], untouched);
    if (untouched != SIZE_MAX) untouched = std::max(untouched, columns_[at].end);
  }
  found_ = true;
  rolled_up_ = rolled_up_ || content_.head().minute;
  window_ = {content.start_utc, content.window, counts_, figures_};
}

void PastSource::takeAll(const Columns& columns, std::size_t untouched) {
  if (columns.first && *columns.first >= untouched) {
    const auto first = static_cast<std::ptrdiff_t>(*columns.first);
    std::copy(block_counts_.begin(), block_counts_.end(), counts_.begin() + first);
    std::copy(block_figures_.begin(), block_figures_.end(), figures_.begin() + first);
    return;
  }
  for (std::size_t pair = 0; pair < columns.of.size(); ++pair) {
    if (columns.of[pair] != kNoColumn) take(pair, columns.of[pair]);
  }
}

void PastSource::readFigures(BlockReader& block) {
  if (figure_.jitter) return block.jitter(block_figures_);
  if (!part_ || figure_.statistic == &Summary::mean) {
    block_figures_.assign(block.destinations().size(), kNoFigure);
  }
  if (!part_) return;
  if (figure_.statistic == &Summary::mean) {
    for (std::size_t pair = 0; pair < block_figures_.size(); ++pair) {
      const auto runs = block.samples(*part_, pair);
      if (!runs.empty()) block_figures_[pair] = summaryOf(runs).mean;
    }
    return;
  }
  const auto& statistic = figure_.statistic;
  const std::uint64_t percent = statistic == &Summary::min   ? 0
                                : statistic == &Summary::p50 ? 50
                                : statistic == &Summary::p95 ? 95
                                : statistic == &Summary::p99 ? 99
                                                             : 100;
  block.percentiles(*part_, percent, block_figures_);
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
