// The most counted keys of a table of counters, found while increments are added: the algorithm
// Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi, "Efficient computation of frequent and top-k
// elements in data streams", ICDT 2005). A new key takes the place of the least counted one, and
// what that had becomes its error.
//
// The counters beside it (counter_table.h) give an estimate of each key that is never too small. A
// key whose estimate is at most the smallest count of the list cannot be one of its keys and need
// not become one, so most keys are not even looked for.
//
// With n keys and increments of `total` in all, every key with more than total / n is in the list,
// and each of its counts is at least what was added for the key, and at most `error` more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/hash.h"
#include "store/top_keys.h"

namespace pingloom::store {

// One thread. The memory is allocated once: about 110 bytes for each key, and 8 KiB.
class HeavyKeys {
 public:
  // Has room for so many keys. REQUIRES: at most kMaxTopKeys. Without room it wants no key.
  explicit HeavyKeys(std::size_t most);

  // Whether a key with this estimate has to be added.
  bool wants(std::uint64_t estimate) const { return estimate > floor_; }
  // Asks for the memory that add() looks at.
  void prefetch(const KeyHash& hash) const {
    if (const Index at = chains_[hash.high % kChains]; at != kNone)
      __builtin_prefetch(&counted_[at], 1);
  }
  // Adds to the key, which takes the place of the least counted one if the list is full.
  // `estimate` is the count of the key by the counters, with this amount: never too little.
  // REQUIRES: a key of 1 to kMaxKeyBytes.
  void add(const KeyHash& hash, std::span<const std::uint8_t> key, std::uint64_t amount,
           std::uint64_t estimate);

  // Forgets all keys.
  void clear();
  // Takes a key that an earlier writer has left, unless the list is full or has it already.
  void restore(const KeyHash& hash, const TopKey& key);

  std::size_t size() const { return counted_.size(); }
  TopKey at(std::size_t index) const;  // a key keeps its index as long as it is in the list

 private:
  using Index = std::uint16_t;
  // What each increment looks at is apart from what only readers of the list need.
  struct CountedKey {
    KeyHash hash;
    std::uint64_t count = 0;
    Index next = 0;  // in the same chain
  };
  // The count may be an earlier one, so it is a lower bound.
  struct Least {
    std::uint64_t count = 0;
    Index index = 0;
  };
  static constexpr std::size_t kChains = 4096;
  static constexpr Index kNone = UINT16_MAX;
  static_assert(kMaxTopKeys < kNone);

  static bool isGreater(const Least& a, const Least& b) { return a.count > b.count; }
  Index& chainOf(const KeyHash& hash) { return chains_[hash.high % kChains]; }
  CountedKey* find(const KeyHash& hash);
  void append(const KeyHash& hash, const TopKey& key);
  void unlink(Index index);
  void settleLeast();
  void setKey(Index index, std::span<const std::uint8_t> key, std::uint64_t error);

  const std::size_t most_;
  std::uint64_t floor_;              // no count is smaller; 0 while there is room
  std::vector<Index> chains_;        // the first key of each chain, by the hash
  std::vector<CountedKey> counted_;  // by index
  std::vector<TopKey> keys_;         // by index, without their counts
  std::vector<Least> heap_;          // the least count first
};

}  // namespace pingloom::store
