// The contents of a region that `pingloom read --serve` offers. A seed and the position determine
// every byte, so that a reader can check any part of the region. Byte i is byte i % 8, lowest
// first, of the finalizer of SplitMix64 on seed + (i / 8 + 1) * 0x9E3779B97F4A7C15.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pingloom::cli {

constexpr std::uint64_t patternWord(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t word = seed + (number + 1) * 0x9E3779B97F4A7C15;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
  return word ^ (word >> 31);
}

// Calls `use(byte, expected)` for each byte of memory, which begins `offset` bytes into the region.
template <typename Memory, typename Use>
void alongPattern(Memory memory, std::uint64_t seed, std::uint64_t offset, Use use) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::uint64_t at = offset + i;
    if (i == 0 || at % 8 == 0) word = patternWord(seed, at / 8);
    use(memory[i], static_cast<std::uint8_t>(word >> (at % 8 * 8)));
  }
}

inline void fillWithPattern(std::span<std::uint8_t> memory, std::uint64_t seed) {
  alongPattern(memory, seed, 0, [](std::uint8_t& byte, std::uint8_t wanted) { byte = wanted; });
}

inline bool hasPattern(std::span<const std::uint8_t> memory, std::uint64_t seed,
                       std::uint64_t offset) {
  bool right = true;
  alongPattern(memory, seed, offset,
               [&](std::uint8_t byte, std::uint8_t wanted) { right = right && byte == wanted; });
  return right;
}

}  // namespace pingloom::cli
