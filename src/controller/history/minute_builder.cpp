#include "controller/history/minute_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/history/precision.h"

namespace pingloom::controller {
void MinuteBuilder::clear() {
  destinations_.clear();
  pairs_.clear();
  used_ = 0;
  if (kept_.size() > kMostKeptPairs) kept_.resize(kMostKeptPairs);
}

MinuteBuilder::Pair* MinuteBuilder::fresh() {
  if (used_ == kept_.size()) kept_.push_back(std::make_unique<Pair>());
  Pair* const pair = kept_[used_++].get();
  pair->row = {};
  pair->jitter = {};
  for (Distribution& part : pair->parts) part.clear();
  return pair;
}

bool MinuteBuilder::accepts(const BlockReader& block) const {
  return pairs_.empty() ||
         (block.head() == head_ &&
          (block.destinations() == destinations_ ||
           block.destinations().size() + destinations_.size() <= kMostBlockPairs));
}

void MinuteBuilder::makeRoomFor(const plan::AddressList& destinations) {
  if (destinations == destinations_) return;
  plan::AddressList all;
  std::set_union(destinations_.begin(), destinations_.end(), destinations.begin(),
                 destinations.end(), std::back_inserter(all));
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Pair*> pairs;
  std::size_t old = 0;
  for (const IpAddress& destination : all) {
    const bool known = old < destinations_.size() && destinations_[old] == destination;
    pairs.push_back(known ? pairs_[old++] : fresh());
  }
  destinations_ = std::move(all);
  pairs_ = std::move(pairs);
}

bool MinuteBuilder::add(BlockReader& block) {
  if (!block.readAll()) return false;
  if (pairs_.empty()) head_ = block.head();
  makeRoomFor(block.destinations());
  std::size_t at = 0;
  for (std::size_t i = 0; i < block.destinations().size(); ++i) {
    while (destinations_[at] < block.destinations()[i]) ++at;
    merge(block, i, *pairs_[at]);
  }
  return true;
}

void MinuteBuilder::merge(BlockReader& block, std::size_t from, Pair& into) {
  Row row;
  block.counts(from, row);
  addCounts(row, into.row);
  into.jitter.add(row);
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    const auto runs = block.samples(part, from);
    if (!runs.empty()) addTo(into.parts[part], runs);
  }
}

Result<std::string_view> MinuteBuilder::block() {
  BlockHead head = head_;
  head.minute = true;
  rows_.clear();
  std::array<std::vector<Summary>, kRowParts.size()> summaries;
  for (const Pair* pair : pairs_) {
    rows_.push_back(pair->row);
    rows_.back().jitter_ns = pair->jitter.value();
    for (std::size_t part = 0; part < kRowParts.size(); ++part) {
      summaries[part].push_back(pair->parts[part].summary());
    }
  }
  return encodeWithin(minuteBudget(rows_.size()), kMinutePrecisions.size(), level_,
                      [&](std::size_t level) {
                        const MinutePrecision& precision = kMinutePrecisions[level];
                        for (std::size_t part = 0; part < kRowParts.size(); ++part) {
                          const auto [median, tail] = precision.parts[part];
                          parts_[part].clear();
                          encodePercentiles(summaries[part], median, tail, parts_[part]);
                        }
                        return writer_.write(head, destinations_, rows_, precision.jitter, parts_);
                      });
}

}  // namespace pingloom::controller
