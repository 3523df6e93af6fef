// Copies between a packet and memory that the application uses at the same time. Every aligned word
// of eight bytes is read and written atomically, as a NIC does, so that no reader sees a torn
// counter. There is no other ordering. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pingloom::rdma::soft {
namespace shared_copy {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Two words in one register. No x86-64 or arm64 processor splits an aligned access of 16 bytes
// within a word of eight (Arm ARM B2.2.1; on x86-64 those with AVX do not split it at all).
using Pair [[gnu::vector_size(2 * kWord)]] = std::uint64_t;
// The compiler neither merges nor unrolls volatile accesses, so the loop is unrolled by hand: one
// by one they take half as long again.
constexpr std::size_t kLine = 4 * sizeof(Pair);

// The parts of a piece of shared memory, in order: bytes up to the first aligned word, one word if
// that is not aligned as a pair, lines, words, bytes.
struct Parts {
  Parts(const std::uint8_t* memory, std::size_t size) {
    const auto before = [&](std::size_t alignment) {
      return -reinterpret_cast<std::uintptr_t>(memory) & (alignment - 1);
    };
    head = std::min(before(kWord), size);
    size -= head;
    odd_words = std::min((before(sizeof(Pair)) - before(kWord)) / kWord, size / kWord);
    size -= odd_words * kWord;
    lines = size / kLine;
    words = size % kLine / kWord;
    tail = size % kWord;
  }
  std::size_t head, odd_words, lines, words, tail;
};

inline void loadBytes(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count) *to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
}

inline void loadWords(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count, to += kWord, from += kWord) {
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &word, kWord);
  }
}

inline void storeBytes(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count) __atomic_store_n(to++, *from++, __ATOMIC_RELAXED);
}

inline void storeWords(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count, to += kWord, from += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kWord);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELAXED);
  }
}

#if defined(__SANITIZE_THREAD__)  // which knows only words

inline void loadLines(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  loadWords(to, from, count * kLine / kWord);
}
inline void storeLines(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  storeWords(to, from, count * kLine / kWord);
}

#else

inline void loadLines(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count, to += kLine, from += kLine) {
    const auto* shared = reinterpret_cast<const volatile Pair*>(from);
    const Pair first = shared[0], second = shared[1], third = shared[2], fourth = shared[3];
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + sizeof(Pair), &second, sizeof second);
    std::memcpy(to + 2 * sizeof(Pair), &third, sizeof third);
    std::memcpy(to + 3 * sizeof(Pair), &fourth, sizeof fourth);
  }
}

inline void storeLines(std::uint8_t*& to, const std::uint8_t*& from, std::size_t count) {
  for (; count > 0; --count, to += kLine, from += kLine) {
    Pair first, second, third, fourth;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&second, from + sizeof(Pair), sizeof second);
    std::memcpy(&third, from + 2 * sizeof(Pair), sizeof third);
    std::memcpy(&fourth, from + 3 * sizeof(Pair), sizeof fourth);
    auto* shared = reinterpret_cast<volatile Pair*>(to);
    shared[0] = first;
    shared[1] = second;
    shared[2] = third;
    shared[3] = fourth;
  }
}

#endif

}  // namespace shared_copy

// REQUIRES: the ranges do not overlap.
inline void copyFromShared(std::uint8_t* to, std::span<const std::uint8_t> shared) {
  const std::uint8_t* from = shared.data();
  const shared_copy::Parts parts(from, shared.size());
  shared_copy::loadBytes(to, from, parts.head);
  shared_copy::loadWords(to, from, parts.odd_words);
  shared_copy::loadLines(to, from, parts.lines);
  shared_copy::loadWords(to, from, parts.words);
  shared_copy::loadBytes(to, from, parts.tail);
}

inline void copyToShared(std::uint8_t* shared, std::span<const std::uint8_t> bytes) {
  const std::uint8_t* from = bytes.data();
  const shared_copy::Parts parts(shared, bytes.size());
  shared_copy::storeBytes(shared, from, parts.head);
  shared_copy::storeWords(shared, from, parts.odd_words);
  shared_copy::storeLines(shared, from, parts.lines);
  shared_copy::storeWords(shared, from, parts.words);
  shared_copy::storeBytes(shared, from, parts.tail);
}

}  // namespace pingloom::rdma::soft
