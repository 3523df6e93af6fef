#include "store/path_joiner.h"

#include <algorithm>
#include <bit>

namespace pingloom::store {

PathJoiner::PathJoiner(std::size_t flows, std::size_t hops, std::size_t hop_bytes)
    : per_flow_(hops),
      hop_bytes_(hop_bytes),
      entries_(flows),
      hops_(flows * hops * hop_bytes),
      chains_(std::bit_ceil(flows), kNone) {
  for (auto i = static_cast<std::uint32_t>(flows); i > 0; --i) {
    entries_[i - 1].next = free_;
    free_ = i - 1;
  }
}

std::uint32_t PathJoiner::find(std::uint64_t hash, std::span<const std::uint8_t> key) const {
  std::uint32_t number = chains_[hash & (chains_.size() - 1)];
  while (number != kNone) {
    const Entry& entry = entries_[number];
    const auto own = entry.flow.key();
    if (entry.hash == hash && std::equal(own.begin(), own.end(), key.begin(), key.end())) break;
    number = entry.next;
  }
  return number;
}

std::uint32_t PathJoiner::begin(std::uint64_t hash, std::span<const std::uint8_t> key, Nanos now) {
  const std::uint32_t number = free_;
  Entry& entry = entries_[number];
  free_ = entry.next;
  entry = Entry();
  entry.flow.key_bytes = static_cast<std::uint8_t>(key.size());
  std::copy(key.begin(), key.end(), entry.flow.key_memory.begin());
  entry.flow.began = now;
  entry.hash = hash;
  std::uint32_t& chain = chainOf(hash);
  entry.next = chain;
  chain = number;
  entry.older = newest_;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = number;
  newest_ = number;
  ++size_;
  return number;
}

void PathJoiner::remove(std::uint32_t number) {
  Entry& entry = entries_[number];
  std::uint32_t* link = &chainOf(entry.hash);
  while (*link != number) link = &entries_[*link].next;
  *link = entry.next;
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  entry.next = free_;
  free_ = number;
  --size_;
}

}  // namespace pingloom::store
