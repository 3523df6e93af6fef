#include "controller/history/past_source.h"

#include <algorithm>

#include "controller/history/codec/row_sums.h"

namespace pingloom::controller {
namespace {

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
  auto& stretches = columns.stretches;
  stretches.clear();
  const auto& known = grid_.destinations;
  const auto& destinations = block.destinations();
  if (destinations.empty()) return;
  auto at = std::lower_bound(known.begin(), known.end(), destinations.front());
  for (std::size_t pair = 0; pair < destinations.size(); ++pair) {
    while (at != known.end() && *at < destinations[pair]) ++at;
    if (at == known.end()) return;
    if (*at != destinations[pair]) continue;
    const auto column = static_cast<std::size_t>(at - known.begin());
    const bool joins = !stretches.empty() &&
                       stretches.back().pair + stretches.back().length == pair &&
                       stretches.back().column + stretches.back().length == column;
    if (!joins) stretches.push_back({pair, column, 0});
    ++stretches.back().length;
  }
}

void PastSource::add(const PastContent& content) {
  if (!read(content)) {
    ++damaged_;
    return;
  }
  if (content_.head().protocol != grid_.spec.protocol) return;
  columns_.resize(std::max(columns_.size(), content_.blocks()));
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    findColumns(content_.block(at), columns_[at]);
  }
  if (!found_) {
    counts_.clear();
    figures_.resize(grid_.destinations.size());
  }
  if (!found_ && ascending()) {
    take();
  } else {
    merge();
  }
  found_ = true;
  rolled_up_ = rolled_up_ || content_.head().minute;
  window_ = {content.start_utc, content.window, counts_, figures_};
}

bool PastSource::ascending() const {
  std::size_t end = 0;
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    for (const Stretch& stretch : columns_[at].stretches) {
      if (stretch.column < end) return false;
      end = stretch.column + stretch.length;
    }
  }
  return true;
}

void PastSource::take() {
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    takeBlock(content_.block(at), columns_[at].stretches);
  }
  takeNothing(grid_.destinations.size());
}

void PastSource::takeBlock(BlockReader& block, const std::vector<Stretch>& stretches) {
  block_counts_.clear();
  block.pairCounts(block_counts_);
  const std::size_t pairs = block.destinations().size();
  const bool whole = stretches.size() == 1 && stretches.front().length == pairs;
  if (whole) {
    readFigures(block, figures_.data() + stretches.front().column);
  } else {
    block_figures_.resize(pairs);
    readFigures(block, block_figures_.data());
  }
  auto run = block_counts_.begin();
  for (const Stretch& stretch : stretches) {
    takeNothing(stretch.column);
    if (!whole) {
      std::copy_n(block_figures_.data() + stretch.pair, stretch.length,
                  figures_.data() + stretch.column);
    }
    const std::size_t end = stretch.pair + stretch.length;
    for (std::size_t pair = stretch.pair; pair < end;) {
      while (run->end <= pair) ++run;
      const std::size_t until = std::min(run->end, end);
      appendRun(run->counts, until - pair, counts_);
      pair = until;
    }
  }
}

void PastSource::takeNothing(std::size_t until) {
  const std::size_t from = counts_.empty() ? 0 : counts_.back().end;
  std::fill(figures_.begin() + static_cast<std::ptrdiff_t>(from),
            figures_.begin() + static_cast<std::ptrdiff_t>(until), kNoFigure);
  appendRun({}, until - from, counts_);
}

void PastSource::merge() {
  if (!found_) takeNothing(grid_.destinations.size());
  merged_.clear();
  for (const CountRun& run : counts_) merged_.resize(run.end, run.counts);
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    BlockReader& block = content_.block(at);
    block_counts_.clear();
    block.pairCounts(block_counts_);
    block_figures_.resize(block.destinations().size());
    readFigures(block, block_figures_.data());
    auto run = block_counts_.begin();
    for (const Stretch& stretch : columns_[at].stretches) {
      for (std::size_t i = 0; i < stretch.length; ++i) {
        const std::size_t pair = stretch.pair + i;
        while (run->end <= pair) ++run;
        mergePair(run->counts, block_figures_[pair], stretch.column + i);
      }
    }
  }
  counts_.clear();
  for (const PairCounts& counts : merged_) appendRun(counts, 1, counts_);
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

void PastSource::mergePair(const PairCounts& counts, std::uint64_t figure, std::size_t column) {
  std::uint64_t& shown = figures_[column];
  if (merged_[column].sent == 0) {
    merged_[column] = counts;
    shown = figure;
    return;
  }
  addPairCounts(counts, merged_[column]);
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
