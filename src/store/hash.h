// Where a key belongs in a table: its hash, the buckets that it may be in, its tag in the writer's
// index, and the checksum of a slot. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "store/layout.h"

namespace pingloom::store {

struct KeyHash {
  std::uint64_t low = 0;   // chooses the buckets
  std::uint64_t high = 0;  // becomes the tag
};

// XXH3 of 128 bits with the table's seed.
KeyHash hashKey(std::span<const std::uint8_t> key, std::uint64_t seed);

// The finalizer of SplitMix64.
constexpr std::uint64_t mixBits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

// The key's k-th choice among so many buckets, or its counter in row k.
constexpr std::uint64_t choiceOf(const KeyHash& hash, unsigned k, std::uint64_t buckets) {
  const std::uint64_t mixed = mixBits(hash.low + k * ((hash.low >> 32) | 1));
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(mixed) * buckets) >> 64);
}

// Never 0, which means that a slot's key is not known.
constexpr std::uint32_t tagOf(const KeyHash& hash) {
  const auto tag = static_cast<std::uint32_t>(hash.high);
  return tag == 0 ? 1 : tag;
}

// The checksum at the beginning of a slot. `value` is all that follows the slot's head, padding
// included.
std::uint32_t slotCrc(std::uint64_t seed, std::span<const std::uint8_t> key, std::uint32_t stamp,
                      std::span<const std::uint8_t> value);

}  // namespace pingloom::store
