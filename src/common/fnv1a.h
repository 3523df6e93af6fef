// The FNV-1a hashes (G. Fowler, L. C. Noll, K.-P. Vo): short names that are the same on every
// machine and in every version. They are no protection against whoever chooses the bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace pingloom {

// `bytes` is a range of characters or bytes.
template <typename Bytes>
constexpr std::uint32_t fnv1a32(const Bytes& bytes) {
  std::uint32_t hash = 2'166'136'261U;
  for (const auto each : bytes) hash = (hash ^ static_cast<std::uint8_t>(each)) * 16'777'619U;
  return hash;
}

constexpr std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char each : bytes) {
    hash = (hash ^ static_cast<std::uint8_t>(each)) * 1'099'511'628'211U;
  }
  return hash;
}

}  // namespace pingloom
