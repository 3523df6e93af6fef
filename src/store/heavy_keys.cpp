#include "store/heavy_keys.h"

#include <algorithm>

namespace pingloom::store {

HeavyKeys::HeavyKeys(std::size_t most)
    : most_(most), floor_(most == 0 ? UINT64_MAX : 0), chains_(kChains, kNone) {
  counted_.reserve(most);
  keys_.reserve(most);
  heap_.reserve(most);
}

// Two keys have the same hash of 128 bits only by a chance that is negligible.
HeavyKeys::CountedKey* HeavyKeys::find(const KeyHash& hash) {
  for (Index at = chainOf(hash); at != kNone; at = counted_[at].next) {
    CountedKey& one = counted_[at];
    if (one.hash.high == hash.high && one.hash.low == hash.low) return &one;
  }
  return nullptr;
}

void HeavyKeys::add(const KeyHash& hash, std::span<const std::uint8_t> key, std::uint64_t amount,
                    std::uint64_t estimate) {
  if (CountedKey* const known = find(hash)) {
    known->count += std::min(amount, UINT64_MAX - known->count);
    return;
  }
  if (amount == 0) return;
  if (counted_.size() < most_) {
    TopKey made;
    made.size = static_cast<std::uint8_t>(key.size());
    std::copy(key.begin(), key.end(), made.memory.begin());
    made.count = amount;
    return append(hash, made);
  }
  settleLeast();
  if (!wants(estimate)) return;
  // What was added before is at most the least count, because the key is not in the list.
  const Index index = heap_.front().index;
  const std::uint64_t before = std::min(estimate - std::min(amount, estimate), floor_);
  unlink(index);
  counted_[index] = {hash, before + std::min(amount, UINT64_MAX - before), chainOf(hash)};
  chainOf(hash) = index;
  setKey(index, key, before);
  settleLeast();
}

void HeavyKeys::setKey(Index index, std::span<const std::uint8_t> key, std::uint64_t error) {
  TopKey& place = keys_[index] = TopKey{};
  place.size = static_cast<std::uint8_t>(key.size());
  std::copy(key.begin(), key.end(), place.memory.begin());
  place.error = error;
}

// Counts only grow, so the first one is the least as soon as it is up to date.
void HeavyKeys::settleLeast() {
  while (heap_.front().count != counted_[heap_.front().index].count) {
    std::pop_heap(heap_.begin(), heap_.end(), isGreater);
    heap_.back().count = counted_[heap_.back().index].count;
    std::push_heap(heap_.begin(), heap_.end(), isGreater);
  }
  floor_ = heap_.front().count;
}

void HeavyKeys::append(const KeyHash& hash, const TopKey& key) {
  const auto index = static_cast<Index>(counted_.size());
  counted_.push_back({hash, key.count, chainOf(hash)});
  chainOf(hash) = index;
  keys_.push_back(key);
  heap_.push_back({key.count, index});
  std::push_heap(heap_.begin(), heap_.end(), isGreater);
  if (counted_.size() == most_) settleLeast();
}

void HeavyKeys::unlink(Index index) {
  Index* link = &chainOf(counted_[index].hash);
  while (*link != index) link = &counted_[*link].next;
  *link = counted_[index].next;
}

void HeavyKeys::clear() {
  std::fill(chains_.begin(), chains_.end(), kNone);
  counted_.clear();
  keys_.clear();
  heap_.clear();
  floor_ = most_ == 0 ? UINT64_MAX : 0;
}

void HeavyKeys::restore(const KeyHash& hash, const TopKey& key) {
  if (counted_.size() < most_ && find(hash) == nullptr) append(hash, key);
}

TopKey HeavyKeys::at(std::size_t index) const {
  TopKey key = keys_[index];
  key.count = counted_[index].count;
  return key;
}

}  // namespace pingloom::store
