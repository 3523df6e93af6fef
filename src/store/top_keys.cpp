#include "store/top_keys.h"

#include <algorithm>

#include "common/crc32c.h"
#include "store/keyed_reader.h"
#include "store/little_endian.h"

namespace pingloom::store {
namespace {

constexpr std::size_t kTopSizeOffset = 4;
constexpr std::size_t kTopCountOffset = 8;
constexpr std::size_t kTopErrorOffset = 16;
constexpr std::size_t kTopKeyOffset = 24;
static_assert(kTopKeyOffset + kMaxKeyBytes == kTopKeyBytes);

std::uint32_t topKeyCrc(const Table& table, std::span<const std::uint8_t> entry) {
  std::array<std::uint8_t, sizeof table.seed> seed{};
  putLittle(std::span<std::uint8_t>(seed), 0, table.seed);
  return crc32c(entry.subspan(kTopSizeOffset), crc32c(seed));
}

bool isEarlier(const TopKey& a, const TopKey& b) {
  const auto x = a.key();
  const auto y = b.key();
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
}

bool isSame(const TopKey& a, const TopKey& b) {
  return std::equal(a.key().begin(), a.key().end(), b.key().begin(), b.key().end());
}

}  // namespace

TopKeyEntry encodeTopKey(const Table& table, const TopKey& key) {
  TopKeyEntry entry{};
  const std::span<std::uint8_t> out(entry);
  putLittle(out, kTopSizeOffset, key.size);
  putLittle(out, kTopCountOffset, key.count);
  putLittle(out, kTopErrorOffset, key.error);
  std::copy_n(key.memory.begin(), key.size, out.begin() + kTopKeyOffset);
  putLittle(out, 0, topKeyCrc(table, out));
  return entry;
}

std::optional<TopKey> decodeTopKey(const Table& table, std::span<const std::uint8_t> entry) {
  TopKey key;
  key.size = getLittle<std::uint8_t>(entry, kTopSizeOffset);
  if (key.size == 0 || key.size > kMaxKeyBytes) return std::nullopt;
  if (getLittle<std::uint32_t>(entry, 0) != topKeyCrc(table, entry)) return std::nullopt;
  key.count = getLittle<std::uint64_t>(entry, kTopCountOffset);
  key.error = getLittle<std::uint64_t>(entry, kTopErrorOffset);
  std::copy_n(entry.begin() + kTopKeyOffset, key.size, key.memory.begin());
  return key;
}

// A key that gets another entry can be in both while the blocks are written one after the other.
std::vector<TopKey> readTopKeys(const Table& table, const TableMemory& memory) {
  std::vector<TopKey> keys;
  const std::uint64_t bytes = table.top_keys * kTopKeyBytes;
  std::array<std::uint8_t, kBlockBytes> block{};
  for (std::uint64_t at = 0; at < bytes; at += block.size()) {
    const auto entries = std::span(block).first(std::min<std::uint64_t>(bytes - at, block.size()));
    memory.read(table.topKeysOffset() + at, entries);
    for (std::size_t i = 0; i < entries.size(); i += kTopKeyBytes) {
      const auto entry = entries.subspan(i, kTopKeyBytes);
      if (entry[kTopSizeOffset] == 0) continue;
      auto key = decodeTopKey(table, entry);
      for (int attempt = 1; attempt < kReadAttempts && !key; ++attempt) {
        memory.read(table.topKeysOffset() + at + i, entry);
        key = decodeTopKey(table, entry);
      }
      if (key) keys.push_back(*key);
    }
  }
  std::sort(keys.begin(), keys.end(), isEarlier);
  keys.erase(std::unique(keys.begin(), keys.end(), isSame), keys.end());
  return keys;
}

}  // namespace pingloom::store
