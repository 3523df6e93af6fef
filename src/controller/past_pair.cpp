#include "controller/past_pair.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

void takeHead(const PastBlock& block, const BlockHead& head, SourceRows& rows) {
  rows.window_start_utc = block.start_utc;
  rows.window = block.window;
  rows.clock = head.clock;
  rows.device = head.device;
}

}  // namespace

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
