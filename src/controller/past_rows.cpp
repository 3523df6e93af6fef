#include "controller/past_rows.h"

#include <algorithm>

#include "controller/state.h"

namespace pingloom::controller {
namespace {

void takeHead(const PastBlock& block, const BlockHead& head, SourceRows& rows) {
  rows.window_start_utc = block.start_utc;
  rows.window = block.window;
  rows.clock = head.clock;
  rows.device = head.device;
}

void takeLarger(const Summary& from, Summary& into) {
  if (from.count == 0) return;
  into.min = into.count == 0 ? from.min : std::min(into.min, from.min);
  into.count += from.count;
  for (const auto figure :
       {&Summary::mean, &Summary::p50, &Summary::p95, &Summary::p99, &Summary::max}) {
    into.*figure = std::max(into.*figure, from.*figure);
  }
}

}  // namespace

PairState pastState(const Row& row) {
  return deriveState(row, {.source_known = true, .source_alive = true});
}

PastSource::PastSource(const ProbeGrid& grid, Summary Row::*part, std::uint64_t Summary::*statistic)
    : grid_(grid), summary_(part), statistic_(statistic) {
  const auto found = std::find(kRowParts.begin(), kRowParts.end(), part);
  if (found != kRowParts.end()) part_ = static_cast<std::size_t>(found - kRowParts.begin());
}

void PastSource::begin() {
  found_ = false;
  rolled_up_ = false;
  rows_ = std::make_shared<SourceRows>();
}

bool PastSource::read(const PastBlock& block) {
  return reader_.open(block.content) && reader_.readCounts() && reader_.readPart(0) &&
         (!part_ || *part_ == 0 || reader_.readPart(*part_));
}

void PastSource::add(const PastBlock& block) {
  if (!read(block)) {
    ++damaged_;
    return;
  }
  if (reader_.head().protocol != grid_.spec.protocol) return;
  if (!found_) rows_->rows.resize(grid_.destinations.size());
  found_ = true;
  takeHead(block, reader_.head(), *rows_);
  rolled_up_ = rolled_up_ || reader_.head().minute;
  auto at = grid_.destinations.begin();
  const auto end = grid_.destinations.end();
  for (std::size_t i = 0; i < reader_.destinations().size(); ++i) {
    const IpAddress& destination = reader_.destinations()[i];
    while (at != end && *at < destination) ++at;
    if (at == end) return;
    if (*at == destination)
      take(i, rows_->rows[static_cast<std::size_t>(at - grid_.destinations.begin())]);
  }
}

void PastSource::take(std::size_t pair, Row& row) {
  if (row.sent != 0) {
    Row more;
    take(pair, more);
    addCounts(more, row);
    row.jitter_ns = std::max(row.jitter_ns, more.jitter_ns);
    if (!part_ || *part_ != 0) row.network.count += more.network.count;
    if (part_) takeLarger(more.*summary_, row.*summary_);
    return;
  }
  reader_.counts(pair, row);
  row.network.count = reader_.sampleCount(0, pair);
  if (!part_) return;
  row.*summary_ = statistic_ == &Summary::mean ? summaryOf(reader_.samples(*part_, pair))
                                               : reader_.percentiles(*part_, pair);
}

std::shared_ptr<const SourceSnapshot> PastSource::snapshot() {
  if (!found_) return nullptr;
  auto made = std::make_shared<SourceSnapshot>();
  made->states.resize(rows_->rows.size());
  const bool unknown = rolled_up_ && (statistic_ == &Summary::min || statistic_ == &Summary::mean);
  for (std::size_t i = 0; i < rows_->rows.size(); ++i) {
    Row& row = rows_->rows[i];
    if (row.sent == 0) continue;
    made->states[i] = pastState(row);
    if (unknown) row.*summary_ = {};
  }
  made->rows = std::move(rows_);
  return made;
}

void PastPair::add(const PastBlock& block) {
  if (!reader_.open(block.content)) {
    ++damaged_;
    return;
  }
  const auto& destinations = reader_.destinations();
  const auto found = std::lower_bound(destinations.begin(), destinations.end(), destination_);
  if (found == destinations.end() || *found != destination_) return;
  if (!reader_.readAll()) {
    ++damaged_;
    return;
  }
  const auto pair = static_cast<std::size_t>(found - destinations.begin());
  if (windows_++ == 0) first_start_utc_ = block.start_utc;
  takeHead(block, reader_.head(), last_);
  rolled_up_ = rolled_up_ || reader_.head().minute;
  Row row;
  reader_.counts(pair, row);
  addCounts(row, row_);
  jitter_.add(row);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto runs = reader_.samples(part, pair);
    if (!runs.empty()) addTo(parts_[part], runs);
  }
}

SourceRows PastPair::source() const {
  SourceRows made = last_;
  made.window_start_utc = first_start_utc_;
  made.window = last_.endUtc() - first_start_utc_;
  return made;
}

Row PastPair::row() const {
  Row made = row_;
  for (std::size_t i = 0; i < kRowParts.size(); ++i) made.*kRowParts[i] = parts_[i].summary();
  made.jitter_ns = jitter_.value();
  return made;
}

void PastPair::clear() {
  windows_ = 0;
  rolled_up_ = false;
  row_ = {};
  jitter_ = {};
  for (Distribution& part : parts_) part.clear();
}

}  // namespace pingloom::controller
