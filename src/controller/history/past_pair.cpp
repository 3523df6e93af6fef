#include "controller/history/past_pair.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

void takeHead(const PastContent& content, const BlockHead& head, SourceRows& rows) {
  rows.window_start_utc = content.start_utc;
  rows.window = content.window;
  rows.clock = head.clock;
  rows.device = head.device;
}

}  // namespace

void PastPair::add(const PastContent& content) {
  if (!content_.open(content.content)) {
    ++damaged_;
    return;
  }
  for (std::size_t at = 0; at < content_.blocks(); ++at) {
    BlockReader& block = content_.block(at);
    const auto& destinations = block.destinations();
    const auto found = std::lower_bound(destinations.begin(), destinations.end(), destination_);
    if (found == destinations.end() || *found != destination_) continue;
    if (block.readAll())
      return take(content, block, static_cast<std::size_t>(found - destinations.begin()));
    ++damaged_;
    return;
  }
}

void PastPair::take(const PastContent& content, BlockReader& block, std::size_t pair) {
  if (windows_++ == 0) first_start_utc_ = content.start_utc;
  takeHead(content, block.head(), last_);
  rolled_up_ = rolled_up_ || block.head().minute;
  Row row;
  block.counts(pair, row);
  addCounts(row, row_);
  jitter_.add(row);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto runs = block.samples(part, pair);
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
