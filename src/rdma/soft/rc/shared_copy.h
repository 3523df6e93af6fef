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
// The compiler neither joins nor unrolls accesses to shared words: one by one they take half as
// long again.
constexpr std::size_t kLine = 4 * kWord;

// Bytes up to the first aligned word.
inline std::size_t headOf(const std::uint8_t* memory, std::size_t size) {
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(memory) & (kWord - 1);
  return head < size ? head : size;
}

inline std::uint64_t load(const std::uint8_t* aligned) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(aligned), __ATOMIC_RELAXED);
}

inline void store(std::uint8_t* aligned, std::uint64_t word) {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(aligned), word, __ATOMIC_RELAXED);
}

// Through registers, not through an array: what is stored by words and read again in wider pieces
// waits for the stores.
inline void loadLine(std::uint8_t* to, const std::uint8_t* aligned) {
  const std::uint64_t first = load(aligned);
  const std::uint64_t second = load(aligned + kWord);
  const std::uint64_t third = load(aligned + 2 * kWord);
  const std::uint64_t fourth = load(aligned + 3 * kWord);
  std::memcpy(to, &first, kWord);
  std::memcpy(to + kWord, &second, kWord);
  std::memcpy(to + 2 * kWord, &third, kWord);
  std::memcpy(to + 3 * kWord, &fourth, kWord);
}

inline void storeLine(std::uint8_t* aligned, const std::uint8_t* from) {
  std::uint64_t first, second, third, fourth;
  std::memcpy(&first, from, kWord);
  std::memcpy(&second, from + kWord, kWord);
  std::memcpy(&third, from + 2 * kWord, kWord);
  std::memcpy(&fourth, from + 3 * kWord, kWord);
  store(aligned, first);
  store(aligned + kWord, second);
  store(aligned + 2 * kWord, third);
  store(aligned + 3 * kWord, fourth);
}

}  // namespace shared_copy

// REQUIRES: no overlap.
inline void copyFromShared(std::uint8_t* to, std::span<const std::uint8_t> shared) {
  using shared_copy::kLine;
  using shared_copy::kWord;
  const std::uint8_t* from = shared.data();
  std::size_t left = shared.size();
  for (std::size_t head = shared_copy::headOf(from, left); head > 0; --head, --left) {
    *to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
  }
  for (; left >= kLine; left -= kLine, from += kLine, to += kLine) shared_copy::loadLine(to, from);
  for (; left >= kWord; left -= kWord, from += kWord, to += kWord) {
    const std::uint64_t word = shared_copy::load(from);
    std::memcpy(to, &word, kWord);
  }
  for (; left > 0; --left) *to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
}

inline void copyToShared(std::uint8_t* shared, std::span<const std::uint8_t> bytes) {
  using shared_copy::kLine;
  using shared_copy::kWord;
  const std::uint8_t* from = bytes.data();
  std::size_t left = bytes.size();
  for (std::size_t head = shared_copy::headOf(shared, left); head > 0; --head, --left) {
    __atomic_store_n(shared++, *from++, __ATOMIC_RELAXED);
  }
  for (; left >= kLine; left -= kLine, from += kLine, shared += kLine) {
    shared_copy::storeLine(shared, from);
  }
  for (; left >= kWord; left -= kWord, from += kWord, shared += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kWord);
    shared_copy::store(shared, word);
  }
  for (; left > 0; --left) __atomic_store_n(shared++, *from++, __ATOMIC_RELAXED);
}

}  // namespace pingloom::rdma::soft
