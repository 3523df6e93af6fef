// Which parts of a table its writer has changed and not yet sent: per block of kBlockBytes, the
// changed units. Whole blocks leave first where at least two units changed, because one WRITE of a
// block costs less than two of units; the other units leave alone. One thread. The memory is
// allocated once, 12 bytes for each block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/layout.h"

namespace pingloom::store {

class DirtyBlocks {
 public:
  static constexpr int kWholeFrom = 2;  // changed units

  // `content` is the writer's copy of the table. REQUIRES: it outlives this; `unit_bytes` divides
  // kBlockBytes and is at least kMinSlotBytes; the table has at most 2^32 blocks.
  DirtyBlocks(const Table& table, std::span<std::uint8_t> content, std::size_t unit_bytes)
      : table_offset_(table.offset),
        content_(content),
        unit_bytes_(unit_bytes),
        bits_(content.size() / kBlockBytes) {
    changed_.reserve(bits_.size());
  }

  // Marks the unit at this offset in the table.
  void mark(std::uint64_t offset) {
    std::uint64_t& bits = bits_[offset / kBlockBytes];
    if (bits == 0) changed_.push_back(static_cast<std::uint32_t>(offset / kBlockBytes));
    bits |= std::uint64_t{1} << (offset % kBlockBytes / unit_bytes_);
  }
  // Asks for the memory that mark() changes.
  void prefetch(std::uint64_t offset) const { __builtin_prefetch(&bits_[offset / kBlockBytes], 1); }
  bool isMarked(std::uint64_t offset) const {
    return (bits_[offset / kBlockBytes] >> (offset % kBlockBytes / unit_bytes_) & 1) != 0;
  }
  bool empty() const { return changed_.empty(); }
  std::size_t blocks() const { return changed_.size(); }

  // Calls visit(offset in the store, span of bytes) -> bool for each whole block that has to leave,
  // until it returns false; that block and those behind it stay marked. Returns whether none is
  // left.
  template <typename Visit>
  bool takeBlocks(Visit&& visit) {
    return take([&](std::uint64_t block, std::uint64_t& bits) {
      if (std::popcount(bits) < kWholeFrom && unit_bytes_ < kBlockBytes) return true;
      if (!visitPiece(visit, block * kBlockBytes, kBlockBytes)) return false;
      bits = 0;
      return true;
    });
  }
  // Does the same for each single unit that is marked.
  template <typename Visit>
  bool takeUnits(Visit&& visit) {
    return take([&](std::uint64_t block, std::uint64_t& bits) {
      while (bits != 0) {
        const auto unit = static_cast<std::size_t>(std::countr_zero(bits));
        const std::uint64_t offset = block * kBlockBytes + unit * unit_bytes_;
        if (!visitPiece(visit, offset, unit_bytes_)) return false;
        bits &= bits - 1;
      }
      return true;
    });
  }

 private:
  template <typename Visit>
  bool visitPiece(Visit& visit, std::uint64_t offset, std::size_t bytes) {
    return visit(table_offset_ + offset, content_.subspan(offset, bytes));
  }
  template <typename TakeBlock>
  bool take(TakeBlock&& take_block) {
    bool going = true;
    std::size_t kept = 0;
    for (const std::uint32_t block : changed_) {
      std::uint64_t& bits = bits_[block];
      if (going) going = take_block(std::uint64_t{block}, bits);
      if (bits != 0) changed_[kept++] = block;
    }
    changed_.resize(kept);
    return going;
  }

  const std::uint64_t table_offset_;
  const std::span<std::uint8_t> content_;
  const std::size_t unit_bytes_;
  std::vector<std::uint64_t> bits_;     // of each block, its changed units
  std::vector<std::uint32_t> changed_;  // the blocks whose bits are not 0
};

}  // namespace pingloom::store
