// SipHash-2-4 with a 64-bit result, after Aumasson and Bernstein, "SipHash: a fast short-input PRF"
// (2012): a code of authenticity for short messages under a secret key of 128 bits. It is inline
// and needs nothing but the C library, because the report library uses it. Pure; any thread.
#pragma once

#include <endian.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pingloom {

using SipKey = std::array<std::uint8_t, 16>;

class SipState {
 public:
  explicit SipState(const SipKey& key) {
    const std::uint64_t k0 = load(key.data());
    const std::uint64_t k1 = load(key.data() + 8);
    v0_ ^= k0;
    v1_ ^= k1;
    v2_ ^= k0;
    v3_ ^= k1;
  }
  void take(std::uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }
  std::uint64_t finish() {
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }
  static std::uint64_t load(const std::uint8_t* from) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return le64toh(word);
  }

 private:
  void round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  // The constants are those of the paper.
  std::uint64_t v0_ = 0x736f6d6570736575;
  std::uint64_t v1_ = 0x646f72616e646f6d;
  std::uint64_t v2_ = 0x6c7967656e657261;
  std::uint64_t v3_ = 0x7465646279746573;
};

inline std::uint64_t sipHash(const SipKey& key, std::span<const std::uint8_t> bytes) {
  SipState state(key);
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) state.take(SipState::load(bytes.data() + at));
  // The last word has what is left of the bytes, and their number modulo 256 on top.
  std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  for (std::size_t i = whole; i < bytes.size(); ++i) {
    last |= std::uint64_t{bytes[i]} << (8 * (i - whole));
  }
  state.take(last);
  return state.finish();
}

}  // namespace pingloom
