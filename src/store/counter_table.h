// A table of counters: rows of numbers in which each key has one counter per row (a count-min
// sketch). The writer keeps the sums and sends absolute values, so a WRITE may be repeated. A
// sketch does not know its keys, so the writer also keeps the most counted ones (heavy_keys.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "store/dirty_blocks.h"
#include "store/hash.h"
#include "store/heavy_keys.h"
#include "store/layout.h"
#include "store/table_memory.h"

namespace pingloom::store {

// One increment is at most this, so that a counter lasts for 65,536 of the largest.
constexpr std::uint64_t kMaxIncrement = (std::uint64_t{1} << 48) - 1;

// One thread; no call allocates.
class CounterWriter {
 public:
  // `content` becomes the copy of the table: all 0, or what has been read back from the store. It
  // has the table's bytes and outlives the writer. An error for a table of another kind.
  // REQUIRES: the table's head has been checked.
  static Result<std::unique_ptr<CounterWriter>> create(const Table& table,
                                                       std::span<std::uint8_t> content);

  // REQUIRES: a key of 1 to kMaxKeyBytes, at most kMaxIncrement. A counter saturates. The content
  // changes at the latest when it is taken.
  void add(std::span<const std::uint8_t> key, std::uint64_t amount);

  // Brings the most counted keys into the content. Call it every second or so.
  void publishKeys();

  // Calls visit(offset in the store, span of bytes) -> bool for each block that has changed since
  // it was last taken, until it returns false. Returns whether nothing is left.
  template <typename Visit>
  bool takeDirty(Visit&& visit) {
    settle();
    return dirty_.takeBlocks(visit);
  }
  // Marks a block that takeDirty() gave as changed again, because its WRITE failed.
  void sendAgain(std::uint64_t offset) { dirty_.mark(offset - table_.offset); }

  // Takes note that the content has been read back from the store, with the most counted keys as
  // they were last published.
  void restore();
  // The sum of all increments that the table has counted, of earlier writers too. It saturates.
  std::uint64_t total() const { return total_; }

  const Table& table() const { return table_; }
  bool hasDirty() const { return pending_count_ != 0 || !dirty_.empty(); }

 private:
  // An increment whose counters have been asked for and are not changed yet. Several are located
  // before the first is added, so that their memory accesses overlap.
  struct Pending {
    std::array<std::uint64_t, kMaxRows> offsets{};
    std::uint64_t amount = 0;
    std::uint64_t estimate = 0;  // of the key, with this amount
    KeyHash hash;
    std::array<std::uint8_t, kMaxKeyBytes> key{};
    std::uint8_t key_size = 0;
  };
  static constexpr std::size_t kMaxPending = 32;

  void settle();
  std::uint64_t addTo(const Pending& pending);
  CounterWriter(const Table& table, std::span<std::uint8_t> content)
      : table_(table),
        content_(content),
        dirty_(table, content, kBlockBytes),
        heavy_(table.top_keys) {
    restore();
  }

  const Table table_;
  const std::span<std::uint8_t> content_;
  DirtyBlocks dirty_;
  HeavyKeys heavy_;
  std::uint64_t total_ = 0;
  std::array<Pending, kMaxPending> pending_;
  std::size_t pending_count_ = 0;
};

// Where the counter of a key with this hash is in a row, as an offset in the table.
inline std::uint64_t counterOffset(const Table& table, const KeyHash& hash, unsigned row) {
  return (row * table.units + choiceOf(hash, row, table.units)) * kCounterBytes;
}

// Estimates how much was added for the key: never too little, once everything is written, and too
// much by what other keys have added to all of its counters. `memory` is the table's and may change
// meanwhile. Any thread. REQUIRES: a table of counters, of a head that has been checked.
std::uint64_t countKey(const Table& table, const TableMemory& memory,
                       std::span<const std::uint8_t> key);

// An estimate is too large by more than this with a probability of at most e^-rows. `total` is the
// sum of all increments.
double countErrorBound(const Table& table, std::uint64_t total);

}  // namespace pingloom::store
