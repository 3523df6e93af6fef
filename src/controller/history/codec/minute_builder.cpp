#include "controller/history/codec/minute_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/history/codec/part_writer.h"

namespace pingloom::controller {

void MinuteBuilder::clear() {
  destinations_.clear();
  pairs_.clear();
  used_ = 0;
  if (kept_.size() > kMaxKeptPairs) kept_.resize(kMaxKeptPairs);
}

MinuteBuilder::Pair* MinuteBuilder::fresh() {
  if (used_ == kept_.size()) kept_.push_back(std::make_unique<Pair>());
  Pair* const pair = kept_[used_++].get();
  pair->row = {};
  pair->jitter = {};
  for (Distribution& part : pair->parts) part.clear();
  return pair;
}

bool MinuteBuilder::accepts(const ContentReader& window) const {
  return pairs_.empty() ||
         (window.head() == head_ && (window.hasDestinations(destinations_) ||
                                     window.pairs() + destinations_.size() <= kMaxContentPairs));
}

void MinuteBuilder::makeRoomFor(const ContentReader& window) {
  if (window.hasDestinations(destinations_)) return;
  const plan::AddressList destinations = window.destinations();
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

bool MinuteBuilder::add(ContentReader& window) {
  if (!window.readAll()) return false;
  if (pairs_.empty()) head_ = window.head();
  makeRoomFor(window);
  std::size_t at = 0;
  for (std::size_t number = 0; number < window.blocks(); ++number) {
    BlockReader& block = window.block(number);
    for (std::size_t i = 0; i < block.destinations().size(); ++i) {
      while (destinations_[at] < block.destinations()[i]) ++at;
      merge(block, i, *pairs_[at]);
    }
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

Result<std::string_view> MinuteBuilder::content() {
  BlockHead head = head_;
  head.minute = true;
  return encodeWithin(minuteBudget(pairs_.size()), kMinutePrecisions.size(), level_,
                      [&](std::size_t level) { return encode(head, kMinutePrecisions[level]); });
}

Result<std::string_view> MinuteBuilder::encode(const BlockHead& head,
                                               const MinutePrecision& precision) {
  const std::size_t pairs = evenBlockPairs(pairs_.size(), kMinutePairs);
  content_.clear();
  for (std::size_t from = 0; from == 0 || from < pairs_.size(); from += pairs) {
    auto block = encodeBlock(head, from, std::min(pairs, pairs_.size() - from), precision);
    if (!block) return block;
    content_ += *block;
  }
  return std::string_view(content_);
}

Result<std::string_view> MinuteBuilder::encodeBlock(const BlockHead& head, std::size_t from,
                                                    std::size_t pairs,
                                                    const MinutePrecision& precision) {
  rows_.clear();
  std::array<std::vector<Summary>, kRowParts.size()> summaries;
  for (const Pair* pair : std::span(pairs_).subspan(from, pairs)) {
    rows_.push_back(pair->row);
    rows_.back().jitter_ns = pair->jitter.value();
    for (std::size_t part = 0; part < kRowParts.size(); ++part) {
      summaries[part].push_back(pair->parts[part].summary());
    }
  }
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    const auto [median, tail] = precision.parts[part];
    parts_[part].clear();
    encodePercentiles(summaries[part], median, tail, parts_[part]);
  }
  return writer_.write(head, std::span(destinations_).subspan(from, pairs), rows_, precision.jitter,
                       parts_);
}

}  // namespace pingloom::controller
