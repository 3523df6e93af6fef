// The writer's side of a keyed table, or of the slots of paths: a copy of the table's bytes and an
// index of it, from which what has changed is sent. Because the writer knows which slots are taken,
// a key has one copy: in its own slot, else in an empty one of the emptier of its buckets, else in
// the place of the key that was written longest ago. One thread; no call allocates.
//
// In a table with copies a key is instead written to all of its slots, whatever they contain.
//
// A key whose hash equals another's in 32 bits and in a bucket takes that one's slot. The loser is
// then absent, never wrong, because a slot's checksum is over its key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/error.h"
#include "store/dirty_blocks.h"
#include "store/hash.h"
#include "store/layout.h"

namespace pingloom::store {

// Whether the key was there, and whether another one had to go; of copies, whether another key lost
// at least one of its copies.
enum class Placed : std::uint8_t { kNew, kUpdated, kEvicted };

class KeyedWriter {
 public:
  // `content` becomes the copy of the table; it has the table's bytes, all 0, and outlives the
  // writer. Besides, the writer needs 8 bytes a slot. An error for a table without slots.
  // REQUIRES: the table's head has been checked.
  static Result<std::unique_ptr<KeyedWriter>> create(const Table& table,
                                                     std::span<std::uint8_t> content);

  // Where a key may be. Locating a batch of keys before placing them hides the memory's latency.
  struct Spot {
    std::uint32_t tag = 0;
    std::array<std::uint64_t, kMaxChoices> buckets{};
  };
  // REQUIRES: 1 to kMaxKeyBytes.
  Spot locate(std::span<const std::uint8_t> key) const;
  // Stores the value; a short one is padded with 0. REQUIRES: `spot` is the key's; at most
  // value_bytes; `stamp` is not 0.
  Placed place(const Spot& spot, std::span<const std::uint8_t> key,
               std::span<const std::uint8_t> value, std::uint32_t stamp);
  Placed place(std::span<const std::uint8_t> key, std::span<const std::uint8_t> value,
               std::uint32_t stamp) {
    return place(locate(key), key, value, stamp);
  }

  // Returns the value that the content has of the key, also if it was read back, or an empty span.
  // place() then takes that slot. The value is valid until the next place(). REQUIRES: `spot` is
  // the key's.
  std::span<const std::uint8_t> recall(const Spot& spot, std::span<const std::uint8_t> key);

  // Calls visit(offset in the store, span of bytes) -> bool for what has changed since it was last
  // taken, until it returns false: first whole blocks, then single slots. What was refused stays
  // for the next time. Returns whether nothing is left.
  template <typename Visit>
  bool takeDirty(Visit&& visit) {
    return takeBlocks(visit) && takeSlots(visit);
  }
  // The two halves, for a writer that sends the blocks of all its tables first.
  template <typename Visit>
  bool takeBlocks(Visit&& visit) {
    return dirty_.takeBlocks(visit);
  }
  template <typename Visit>
  bool takeSlots(Visit&& visit) {
    return dirty_.takeUnits(visit);
  }
  // Marks the slots in this piece of the store as changed again, because its WRITE failed.
  // REQUIRES: the piece is one that takeDirty() gave.
  void sendAgain(std::uint64_t offset, std::size_t bytes);

  // Builds the index from the content, which the caller has read from the store. The keys are not
  // known: place() and recall() find a key's slot by its checksum.
  void restore();

  const Table& table() const { return table_; }
  std::uint64_t slots() const { return index_.size(); }
  std::uint64_t used() const { return used_; }
  bool hasDirty() const { return !dirty_.empty(); }

 private:
  struct Slot {
    std::uint32_t tag = 0;    // of its key; 0 if not known
    std::uint32_t stamp = 0;  // 0 if empty
  };
  struct Choice {
    std::uint64_t slot = 0;
    Placed how = Placed::kNew;
  };

  KeyedWriter(const Table& table, std::span<std::uint8_t> content);
  Choice choose(const Spot& spot, std::span<const std::uint8_t> key, std::uint32_t stamp) const;
  std::optional<std::uint64_t> ownSlot(const Spot& spot, std::span<const std::uint8_t> key) const;
  Placed placeCopies(const Spot& spot, std::span<const std::uint8_t> key,
                     std::span<const std::uint8_t> value, std::uint32_t stamp);
  void fill(std::uint64_t slot, std::span<const std::uint8_t> key,
            std::span<const std::uint8_t> value, std::uint32_t stamp);

  const Table table_;
  const std::size_t slot_bytes_;
  const std::span<std::uint8_t> content_;
  std::vector<Slot> index_;
  DirtyBlocks dirty_;
  std::uint64_t used_ = 0;
};

}  // namespace pingloom::store
