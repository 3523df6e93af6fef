// Copies between a packet and memory that the application goes on using meanwhile: every aligned
// word of eight bytes is read and written whole, as a NIC does, so that a counter is never seen
// half old and half new. Nothing else is ordered. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pingloom::rdma::soft {
namespace shared_copy {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Bytes up to the first aligned word.
inline std::size_t headOf(const std::uint8_t* memory, std::size_t size) {
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(memory) & (kWord - 1);
  return head < size ? head : size;
}

}  // namespace shared_copy

// REQUIRES: no overlap.
inline void copyFromShared(std::uint8_t* to, std::span<const std::uint8_t> shared) {
  using shared_copy::kWord;
  const std::uint8_t* from = shared.data();
  std::size_t left = shared.size();
  for (std::size_t head = shared_copy::headOf(from, left); head > 0; --head, --left) {
    *to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
  }
  for (; left >= kWord; left -= kWord, from += kWord, to += kWord) {
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &word, kWord);
  }
  for (; left > 0; --left) *to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
}

inline void copyToShared(std::uint8_t* shared, std::span<const std::uint8_t> bytes) {
  using shared_copy::kWord;
  const std::uint8_t* from = bytes.data();
  std::size_t left = bytes.size();
  for (std::size_t head = shared_copy::headOf(shared, left); head > 0; --head, --left) {
    __atomic_store_n(shared++, *from++, __ATOMIC_RELAXED);
  }
  for (; left >= kWord; left -= kWord, from += kWord, shared += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kWord);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(shared), word, __ATOMIC_RELAXED);
  }
  for (; left > 0; --left) __atomic_store_n(shared++, *from++, __ATOMIC_RELAXED);
}

}  // namespace pingloom::rdma::soft
