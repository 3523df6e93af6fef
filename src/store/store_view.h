// Reads a store: its file, whether or not a collector serves it, or its memory at another host. Any
// number of processes may read. Any thread may call the const functions of a file's view, and one
// thread those of a remote one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "store/counter_table.h"
#include "store/keyed_reader.h"
#include "store/layout.h"
#include "store/list_reader.h"
#include "store/mapping.h"
#include "store/path_slot.h"
#include "store/table_memory.h"
#include "store/top_keys.h"
#include "store/writer_status.h"

namespace pingloom::store {

struct FoundPath {
  Path path;
  std::uint32_t stamp = 0;  // when its writer stored it (store/stamp.h)
};

class StoreView {
 public:
  // Refuses what is no regular file, and a head that is wrong or does not suit the file's size.
  static Result<StoreView> open(const std::filesystem::path& file);

  // A view of a store at another host, with its name instead of a file's.
  static StoreView over(std::unique_ptr<const RemoteStore> remote, Head head,
                        std::string_view name);

  // An error if the store at the other host could not be reached, so that what was found or not
  // found since then means nothing. A file is always reachable.
  Status reachable() const { return remote_ != nullptr ? remote_->reachable() : Status(); }
  // The head as it was when the store was opened.
  const Head& head() const { return head_; }
  const std::filesystem::path& file() const { return file_; }
  // Reads the head again, because its epoch and state change. Of a store at another host it is
  // what it was: nobody reaches a head by RDMA.
  Result<Head> readHead() const;
  const Table* findTable(std::string_view name) const;  // nullptr if there is none

  // Returns nullopt if the key is absent. REQUIRES: a keyed table of this store.
  std::optional<Value> get(const Table& table, std::span<const std::uint8_t> key) const {
    return findKey(table, memoryOf(table), key);
  }
  // The same of a table of paths.
  std::optional<FoundPath> path(const Table& table, std::span<const std::uint8_t> key) const {
    const auto found = findKey(table, memoryOf(table), key);
    if (!found) return std::nullopt;
    return FoundPath{decodePath(table, found->bytes()), found->stamp};
  }
  // REQUIRES: a table of counters of this store.
  std::uint64_t count(const Table& table, std::span<const std::uint8_t> key) const {
    return countKey(table, memoryOf(table), key);
  }
  // The keys that were counted most, as far as their writer has published them: at most kMaxTopKeys
  // in no order. REQUIRES: the same.
  std::vector<TopKey> topKeys(const Table& table) const {
    return readTopKeys(table, memoryOf(table));
  }
  // As in list_reader.h. REQUIRES: a list below table.lists of a table of lists of this store.
  Tail tail(const Table& table, std::uint32_t list, ListCursor from, std::size_t most,
            const std::function<void(std::span<const std::uint8_t>)>& visit) const {
    return readTail(table, memoryOf(table), list, from, most, visit);
  }
  ListCursor endOf(const Table& table, std::uint32_t list) const {
    return endOfList(table, memoryOf(table), list);
  }
  ListCursor beginOf(const Table& table, std::uint32_t list) const {
    return beginOfList(table, memoryOf(table), list);
  }
  // An error if no writer has written yet.
  Result<WriterStatus> status() const;
  // REQUIRES: a table with slots of this store. Reads the whole table.
  std::uint64_t usedSlots(const Table& table) const { return countUsed(table, memoryOf(table)); }

 private:
  StoreView() = default;
  TableMemory memoryOf(const Table& table) const { return memoryAt(table.offset, table.bytes); }
  TableMemory memoryAt(std::uint64_t offset, std::uint64_t bytes) const {
    if (remote_ != nullptr) return {*remote_, offset};
    return mapping_.memory().subspan(offset, bytes);
  }

  std::filesystem::path file_;
  Mapping mapping_;                            // of the file
  std::unique_ptr<const RemoteStore> remote_;  // instead of a file
  Head head_;
};

}  // namespace pingloom::store
