// The writer's side of a table of lists: rings of blocks, to which entries are appended. The writer
// keeps only the blocks that are not known to have arrived, and the unfinished one of each list,
// which may be sent, and again as it grows. One thread; no call allocates.
//
// A list has at most kMaxHeld blocks under way, and all lists of the table share the blocks of a
// pool, in which every list is sure of one. Beyond that a list takes no more entries, so that what
// has been accepted is sent. The blocks of a list are sent in the order of their sequences: a
// reader that sees the next block takes it that the one before it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/error.h"
#include "store/layout.h"

namespace pingloom::store {

enum class ListFlush : std::uint8_t { kFullBlocks, kAllBlocks };

class ListWriter {
 public:
  static constexpr std::uint32_t kMaxHeld = 64;  // blocks of one list; not more than it has

  // `pool` is the memory for the blocks. It has a multiple of kBlockBytes, at least one block for
  // each list, and outlives the writer. The lists are empty; where the store has blocks already,
  // saw() has to be called for each of them first. An error for a table of another kind.
  // REQUIRES: the table's head has been checked.
  static Result<std::unique_ptr<ListWriter>> create(const Table& table,
                                                    std::span<std::uint8_t> pool);

  // Takes note of a block that the store has at this offset in the table. Each list goes on in a
  // new block behind its last one. A block whose checksum is wrong counts as well, because a reader
  // may have seen it before it was half overwritten.
  void saw(std::uint64_t offset, std::span<const std::uint8_t> block);

  // Returns false if the entry was dropped. A short entry is padded with 0. REQUIRES: a list below
  // table().lists, and at most value_bytes.
  bool append(std::uint32_t list, std::span<const std::uint8_t> entry);

  // Calls visit(offset in the store, span of bytes) -> bool for each block that has changed since
  // it was last taken, until it returns false. Returns whether nothing is left. Each block that was
  // taken has to be given to arrived() or failed() as often as it was taken.
  template <typename Visit>
  bool takeDirty(ListFlush which, Visit&& visit) {
    bool going = true;
    std::size_t kept = 0;
    for (const std::uint32_t list : changed_) {
      if (going) going = takeList(lists_[list], which, visit);
      if (isDirty(lists_[list])) {
        changed_[kept++] = list;
      } else {
        lists_[list].changed = false;
      }
    }
    changed_.resize(kept);
    full_ = going ? 0 : full_;
    return going;
  }
  // The WRITE of a block that takeDirty() gave is done.
  void arrived(std::span<const std::uint8_t> block);
  // The WRITE has failed, so the block changes again.
  void failed(std::span<const std::uint8_t> block);

  const Table& table() const { return table_; }
  bool hasDirty() const { return !changed_.empty(); }
  // Full blocks that are ready to be sent.
  std::uint64_t fullBlocks() const { return full_; }
  // Whether a list has three quarters of its blocks under way.
  bool crowded() const { return crowded_ != 0; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct List {
    std::uint64_t sequence = 0;    // of its newest block; 0 before the first
    std::uint32_t oldest = kNone;  // its blocks in the pool, by sequence
    std::uint32_t newest = kNone;
    std::uint16_t held = 0;
    std::uint16_t count = 0;  // entries of the newest block
    bool changed = false;     // it is in changed_
  };
  struct Block {
    std::uint64_t sequence = 0;
    std::uint32_t list = 0;
    std::uint32_t next = kNone;   // of its list, or the next free block
    std::uint32_t under_way = 0;  // WRITEs
    bool dirty = false;
  };

  ListWriter(const Table& table, std::span<std::uint8_t> pool);
  std::span<std::uint8_t> bytesOf(std::uint32_t block) const {
    return pool_.subspan(std::size_t{block} * kBlockBytes, kBlockBytes);
  }
  std::uint32_t blockAt(std::span<const std::uint8_t> bytes) const {
    return static_cast<std::uint32_t>((bytes.data() - pool_.data()) / kBlockBytes);
  }
  bool isFull(const List& list) const { return list.count == room_; }
  bool isCrowded(const List& list) const { return list.held >= most_held_ / 4 * 3; }
  bool begin(List& list, std::uint32_t number);
  void seal(const List& list, std::uint32_t block);
  void markDirty(std::uint32_t block);
  bool isDirty(const List& list) const;
  void release(List& list);
  std::uint64_t offsetOf(const Block& block) const;

  template <typename Visit>
  bool takeList(List& list, ListFlush which, Visit& visit) {
    for (std::uint32_t i = list.oldest; i != kNone; i = blocks_[i].next) {
      Block& block = blocks_[i];
      if (!block.dirty) continue;
      if (which == ListFlush::kFullBlocks && i == list.newest && !isFull(list)) continue;
      seal(list, i);
      if (!visit(offsetOf(block), bytesOf(i))) return false;
      block.dirty = false;
      ++block.under_way;
    }
    return true;
  }

  const Table table_;
  const std::span<std::uint8_t> pool_;
  const std::uint16_t room_;       // entries of a block
  const std::uint16_t most_held_;  // blocks of a list
  std::vector<List> lists_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> changed_;  // lists with dirty blocks
  std::uint32_t free_ = kNone;          // the first free block
  std::uint32_t free_count_ = 0;
  std::uint32_t without_ = 0;  // lists that have no block
  std::uint32_t crowded_ = 0;  // lists
  std::uint64_t full_ = 0;
};

}  // namespace pingloom::store
