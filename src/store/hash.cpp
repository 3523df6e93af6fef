#include "store/hash.h"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/crc32c.h"
#include "store/little_endian.h"

namespace pingloom::store {

KeyHash hashKey(std::span<const std::uint8_t> key, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.low64, hash.high64};
}

std::uint32_t slotCrc(std::uint64_t seed, std::span<const std::uint8_t> key, std::uint32_t stamp,
                      std::span<const std::uint8_t> value) {
  std::array<std::uint8_t, sizeof seed> number{};
  putLittle(std::span<std::uint8_t>(number), 0, seed);
  std::uint32_t crc = crc32c(number);
  crc = crc32c(key, crc);
  putLittle(std::span<std::uint8_t>(number), 0, stamp);
  crc = crc32c(std::span<const std::uint8_t>(number).first(sizeof stamp), crc);
  return crc32c(value, crc);
}

}  // namespace pingloom::store
