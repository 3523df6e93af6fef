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

bool PastSource::read(const PastBlock& block) {
  return reader_.open(block.content) && reader_.readCounts() && reader_.readPart(0) &&
         (!part_ || *part_ == 0 || reader_.readPart(*part_));
}

// Both lists ascend. Sources of a mesh have the same destinations: this is done once for many.
void PastSource::findColumns() {
  if (columns_of_ == reader_.headsRead()) return;
  columns_of_ = reader_.headsRead();
  columns_.clear();
  const auto& known = grid_.destinations;
  auto at = known.begin();
  for (const IpAddress& destination : reader_.destinations()) {
    while (at != known.end() && *at < destination) ++at;
    const bool here = at != known.end() && *at == destination;
    columns_.push_back(here ? static_cast<std::size_t>(at - known.begin()) : kNoColumn);
  }
  columns_alike_ = reader_.destinations() == known;
}

void PastSource::add(const PastBlock& block) {
  if (!read(block)) {
    ++damaged_;
    return;
  }
  if (reader_.head().protocol != grid_.spec.protocol) return;
  findColumns();
  reader_.pairCounts(block_counts_);
  readFigures();
  takeAll();
  found_ = true;
  rolled_up_ = rolled_up_ || reader_.head().minute;
  window_ = {block.start_utc, block.window, counts_, figures_};
}

void PastSource::takeAll() {
  if (!found_ && columns_alike_) {
    counts_.swap(block_counts_);
    figures_.swap(block_figures_);
    return;
  }
  if (!found_) {
    counts_.assign(grid_.destinations.size(), {});
    figures_.assign(grid_.destinations.size(), kNoFigure);
  }
  for (std::size_t pair = 0; pair < columns_.size(); ++pair) {
    if (columns_[pair] != kNoColumn) take(pair, columns_[pair]);
  }
}

void PastSource::readFigures() {
  if (figure_.jitter) return reader_.jitter(block_figures_);
  if (!part_ || figure_.statistic == &Summary::mean) {
    block_figures_.assign(columns_.size(), kNoFigure);
  }
  if (!part_) return;
  if (figure_.statistic == &Summary::mean) {
    for (std::size_t pair = 0; pair < columns_.size(); ++pair) {
      const auto runs = reader_.samples(*part_, pair);
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
  reader_.percentiles(*part_, percent, block_figures_);
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
