// Finds a key in a keyed table while its writer writes. Functions without a state of their own, on
// memory that may change at any time; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "store/layout.h"
#include "store/table_memory.h"

namespace pingloom::store {

struct Value {
  std::array<std::uint8_t, kMaxSlotBytes - kSlotHeadBytes> memory{};
  std::size_t size = 0;     // the table's value_bytes
  std::uint32_t stamp = 0;  // when its writer stored it (store/stamp.h)

  std::span<const std::uint8_t> bytes() const { return std::span(memory).first(size); }
};

// A key that is not found is looked for so many times in all, because its slot may be half written.
constexpr int kReadAttempts = 3;

// Returns the value that was stored last; in a table with copies, the one that most copies of the
// key have, and of as many the last. `memory` is the table's. A wrong value is returned for 2^-32
// of the keys that are absent, times the slots that a key may be in. REQUIRES: the table has slots,
// and its head has been checked.
std::optional<Value> findKey(const Table& table, const TableMemory& memory,
                             std::span<const std::uint8_t> key);

// Counts the slots that are not empty. It reads the whole table.
std::uint64_t countUsed(const Table& table, const TableMemory& memory);

}  // namespace pingloom::store
