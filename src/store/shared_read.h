// Copies memory that another process may write meanwhile. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pingloom::store {

// Copies 8 bytes at a time, each of them as a whole; different ones may be of different times.
// REQUIRES: both have the same size, which 8 divides, and `from` is aligned to 8.
inline void copyShared(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) {
  for (std::size_t i = 0; i < from.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from.data() + i), __ATOMIC_RELAXED);
    std::memcpy(to.data() + i, &word, sizeof word);
  }
}

}  // namespace pingloom::store
