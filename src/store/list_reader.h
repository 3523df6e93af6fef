// Reads a list while its writer appends. Functions without a state of their own, on memory that may
// change at any time; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "store/layout.h"
#include "store/table_memory.h"

namespace pingloom::store {

// The next entry that a reader wants.
struct ListCursor {
  std::uint64_t sequence = 1;  // of its block
  std::uint16_t entry = 0;     // its place in the block

  bool operator==(const ListCursor&) const = default;
};

struct Tail {
  ListCursor next;          // where to go on
  std::uint64_t lost = 0;   // at most so many entries were overwritten before they were read
  std::size_t entries = 0;  // how many were given
};

// Calls visit(entry) for at most `most` entries from the cursor on, of at most 10,000 blocks.
// `memory` is the table's.
// REQUIRES: a list below table.lists, of a table of lists whose head has been checked.
Tail readTail(const Table& table, const TableMemory& memory, std::uint32_t list, ListCursor from,
              std::size_t most, const std::function<void(std::span<const std::uint8_t>)>& visit);

// Returns the place behind the newest entry, which a reader of new entries begins at. It reads as
// many blocks as the number of blocks has binary digits.
ListCursor endOfList(const Table& table, const TableMemory& memory, std::uint32_t list);
// Returns the place of the oldest entry that is not about to be overwritten.
ListCursor beginOfList(const Table& table, const TableMemory& memory, std::uint32_t list);

}  // namespace pingloom::store
