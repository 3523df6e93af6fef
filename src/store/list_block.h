// A block of a list: kBlockBytes with a sequence, entries of one size, and a checksum, so that a
// reader needs nothing else to know whether it is whole and which one it is. Numbers are little
// endian. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "store/layout.h"

namespace pingloom::store {

constexpr std::size_t kListHeadBytes = 16;

// Entries that a block has room for. REQUIRES: 1 to kMaxEntryBytes.
constexpr std::uint16_t entriesPerBlock(std::size_t entry_bytes) {
  return static_cast<std::uint16_t>((kBlockBytes - kListHeadBytes) / entry_bytes);
}

struct ListBlock {
  std::uint64_t sequence = 0;  // from 1 in each list; 0 in a block that was never written
  std::uint16_t count = 0;     // entries
};

// Writes the head over the entries that stand in the block. REQUIRES: count fits.
void sealBlock(const Table& table, std::span<std::uint8_t> block, const ListBlock& head);
// Returns nullopt if the block is half written, or not of this table.
std::optional<ListBlock> readBlock(const Table& table, std::span<const std::uint8_t> block);

// The offset of a list's block with this sequence in its table.
constexpr std::uint64_t blockOffset(const Table& table, std::uint32_t list,
                                    std::uint64_t sequence) {
  return (list * table.units + sequence % table.units) * kBlockBytes;
}

}  // namespace pingloom::store
