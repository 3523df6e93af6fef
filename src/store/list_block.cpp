#include "store/list_block.h"

#include <array>

#include "common/crc32c.h"
#include "store/little_endian.h"

namespace pingloom::store {
namespace {

constexpr std::size_t kCountOffset = 8;
constexpr std::size_t kEntryBytesOffset = 10;
constexpr std::size_t kListCrcOffset = 12;

std::uint32_t blockCrc(const Table& table, std::span<const std::uint8_t> block,
                       std::size_t entries) {
  std::array<std::uint8_t, sizeof table.seed> seed{};
  putLittle(std::span<std::uint8_t>(seed), 0, table.seed);
  const std::uint32_t head = crc32c(block.first(kListCrcOffset), crc32c(seed));
  return crc32c(block.subspan(kListHeadBytes, entries * table.value_bytes), head);
}

}  // namespace

void sealBlock(const Table& table, std::span<std::uint8_t> block, const ListBlock& head) {
  putLittle(block, 0, head.sequence);
  putLittle(block, kCountOffset, head.count);
  putLittle(block, kEntryBytesOffset, static_cast<std::uint16_t>(table.value_bytes));
  putLittle(block, kListCrcOffset, blockCrc(table, block, head.count));
}

std::optional<ListBlock> readBlock(const Table& table, std::span<const std::uint8_t> block) {
  const ListBlock head{getLittle<std::uint64_t>(block, 0),
                       getLittle<std::uint16_t>(block, kCountOffset)};
  if (head.sequence == 0) return ListBlock{};
  const bool sane = head.count <= entriesPerBlock(table.value_bytes) &&
                    getLittle<std::uint16_t>(block, kEntryBytesOffset) == table.value_bytes;
  if (!sane ||
      getLittle<std::uint32_t>(block, kListCrcOffset) != blockCrc(table, block, head.count)) {
    return std::nullopt;
  }
  return head;
}

}  // namespace pingloom::store
