// The writer's side of a table of lists: rings of blocks, to which entries are appended. An
// unfinished block may be sent, and again as it grows. One thread; no call allocates.
//
// A ring whose blocks have all changed and were not sent takes no more entries, so that what has
// been accepted is sent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/error.h"
#include "store/dirty_blocks.h"
#include "store/layout.h"

namespace pingloom::store {

class ListWriter {
 public:
  // `content` becomes the copy of the table; it has the table's bytes and outlives the writer. It
  // is all 0, or what has been read back from the store: then each list goes on in a new block
  // behind its last one. An error for a table of another kind.
  // REQUIRES: the table's head has been checked.
  static Result<std::unique_ptr<ListWriter>> create(const Table& table,
                                                    std::span<std::uint8_t> content);

  // Returns false if the entry was dropped. A short entry is padded with 0. REQUIRES: a list below
  // table().lists, and at most value_bytes.
  bool append(std::uint32_t list, std::span<const std::uint8_t> entry);

  // Calls visit(offset in the store, span of bytes) -> bool for each block that has changed since
  // it was last taken, until it returns false. Returns whether nothing is left.
  template <typename Visit>
  bool takeDirty(Visit&& visit) {
    return dirty_.takeBlocks(visit);
  }
  // Marks a block that takeDirty() gave as changed again, because its WRITE failed.
  void sendAgain(std::uint64_t offset) { dirty_.mark(offset - table_.offset); }

  const Table& table() const { return table_; }
  bool hasDirty() const { return !dirty_.empty(); }

 private:
  struct End {
    std::uint64_t sequence = 0;  // of the block that is being filled; 0 before the first
    std::uint16_t count = 0;     // its entries
  };

  ListWriter(const Table& table, std::span<std::uint8_t> content)
      : table_(table), content_(content), ends_(table.lists), dirty_(table, content, kBlockBytes) {}
  void findEnds();

  const Table table_;
  const std::span<std::uint8_t> content_;
  std::vector<End> ends_;
  DirtyBlocks dirty_;
};

}  // namespace pingloom::store
