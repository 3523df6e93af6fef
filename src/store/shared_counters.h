// The writer's side of a table of counters that several writers share. It keeps what it has to add
// to each counter, and each sum leaves as one FETCH_ADD. It cannot be repeated harmlessly: a sum
// that was in flight when an endpoint failed is added once more, so a count may then be too large,
// but is never too small. One thread; no call allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "store/dirty_blocks.h"
#include "store/layout.h"
#include "store/little_endian.h"

namespace pingloom::store {

class SharedCounterWriter {
 public:
  // `content` becomes the sums to be added; it has the table's bytes, all 0, and outlives the
  // writer. The sum of all increments is added to the status page, in the figures of the table with
  // this index in the head. An error for a table that is not one of shared counters.
  // REQUIRES: the table's head has been checked.
  static Result<std::unique_ptr<SharedCounterWriter>> create(const Table& table, std::size_t index,
                                                             std::span<std::uint8_t> content);

  // REQUIRES: a key of 1 to kMaxKeyBytes, at most kMaxIncrement.
  void add(std::span<const std::uint8_t> key, std::uint64_t amount);

  // Calls visit(offset in the store, amount) -> bool for each sum, until it returns false. What was
  // refused stays for the next time. Returns whether nothing is left.
  template <typename Visit>
  bool takeSums(Visit&& visit) {
    const bool all = dirty_.takeUnits([&](std::uint64_t offset, std::span<std::uint8_t> unit) {
      for (std::size_t at = 0; at < unit.size(); at += kCounterBytes) {
        const auto amount = getLittle<std::uint64_t>(unit, at);
        if (amount == 0) continue;
        if (!visit(offset + at, amount)) return false;
        putLittle<std::uint64_t>(unit, at, 0);
      }
      return true;
    });
    if (!all || total_ == 0) return all;
    if (!visit(total_offset_, total_)) return false;
    total_ = 0;
    return true;
  }
  // Adds a sum again that takeSums() gave, because its FETCH_ADD may have failed.
  void sendAgain(std::uint64_t offset, std::uint64_t amount);

  const Table& table() const { return table_; }
  bool hasDirty() const { return total_ != 0 || !dirty_.empty(); }

 private:
  SharedCounterWriter(const Table& table, std::size_t index, std::span<std::uint8_t> content);
  void addAt(std::uint64_t offset, std::uint64_t amount);

  const Table table_;
  const std::uint64_t total_offset_;  // in the store
  const std::span<std::uint8_t> content_;
  DirtyBlocks dirty_;  // of two counters each
  std::uint64_t total_ = 0;
};

}  // namespace pingloom::store
