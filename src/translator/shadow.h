// The translator's copy of its store: what the store will hold when everything has been written. Of
// lists it has only the blocks that have not arrived. Its memory is registered for the WRITEs that
// bring it there. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/error.h"
#include "rdma/domain.h"
#include "store/counter_table.h"
#include "store/keyed_writer.h"
#include "store/layout.h"
#include "store/list_writer.h"
#include "store/path_writer.h"
#include "store/shared_counters.h"
#include "store/writer_status.h"

namespace pingloom::translator {

// A piece of the store that has to be written.
struct Piece {
  std::uint64_t offset = 0;  // in the store's file
  std::span<std::uint8_t> bytes;
  std::size_t table = 0;     // index in Shadow::tables()
  std::uint64_t amount = 0;  // to be added to a shared counter there; the piece has no bytes then
};

// Frees memory that was mapped.
struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::uint8_t* memory) const;
};

class ShadowTable {
 public:
  // The WRITEs of all tables leave in this order.
  enum class Take : std::uint8_t { kFullListBlocks, kListBlocks, kBlocks, kSlots };
  using Visit = std::function<bool(std::uint64_t offset, std::span<std::uint8_t> bytes)>;

  // `index` is the table's in the head. `list_blocks` is how many blocks a table of lists has for
  // what is under way.
  static Result<std::unique_ptr<ShadowTable>> create(const store::Table& table, std::size_t index,
                                                     std::uint64_t list_blocks,
                                                     rdma::Domain& domain);

  const store::Table& table() const { return table_; }
  const rdma::MemoryRegion& region() const { return *region_; }
  // nullptr if the table is of another kind.
  store::KeyedWriter* keyed() { return as<store::KeyedWriter>(); }
  store::ListWriter* lists() { return as<store::ListWriter>(); }
  store::CounterWriter* counters() { return as<store::CounterWriter>(); }
  store::PathWriter* paths() { return as<store::PathWriter>(); }
  store::SharedCounterWriter* shared() { return as<store::SharedCounterWriter>(); }

  // Calls visit() for what has changed, until it returns false. Returns whether nothing is left of
  // what was to be taken.
  bool take(Take what, const Visit& visit);
  // The WRITE of a piece that take() gave is done, or has failed and the piece changes again.
  void arrived(std::span<const std::uint8_t> bytes);
  void failed(const Piece& piece);

  // The content is read back piece by piece, in order, with at most readsAtOnce() under way. room()
  // is where the piece of the table from this offset goes, and took() says that it is there.
  static constexpr std::size_t kReadsAtOnce = 8;
  std::size_t readsAtOnce() const;
  std::span<std::uint8_t> room(std::uint64_t offset, std::size_t most);
  void took(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  void endRestore();

  // Counted by who places the reports.
  std::uint64_t placed = 0;
  std::uint64_t displaced = 0;
  store::TableFigures figures() const;
  std::span<std::uint8_t> content() { return memory_bytes_; }

 private:
  template <typename Writer>
  using Owner = std::unique_ptr<Writer>;
  using Writers =
      std::variant<Owner<store::KeyedWriter>, Owner<store::ListWriter>, Owner<store::CounterWriter>,
                   Owner<store::PathWriter>, Owner<store::SharedCounterWriter>>;

  explicit ShadowTable(const store::Table& table) : table_(table) {}
  Status map(std::uint64_t bytes);
  Status makeWriter(std::size_t index);
  template <typename Writer>
  Status keep(Result<Owner<Writer>> made) {
    if (!made) return tl::unexpected(made.error());
    writer_ = std::move(*made);
    return {};
  }
  // Those of a keyed table or of paths; nullptr if the table has none.
  store::KeyedWriter* slots() const;
  template <typename Writer>
  Writer* as() const {
    const auto* found = std::get_if<Owner<Writer>>(&writer_);
    return found != nullptr ? found->get() : nullptr;
  }

  const store::Table table_;
  std::unique_ptr<std::uint8_t, Unmap> memory_;
  std::span<std::uint8_t> memory_bytes_;  // the table's copy, or the blocks of lists
  std::unique_ptr<rdma::MemoryRegion> region_;
  Writers writer_;
};

class Shadow {
 public:
  // All lists of a store together have at most so many blocks under way, 64 MiB.
  static constexpr std::uint64_t kMaxListBlocks = 65'536;

  // The content is empty. REQUIRES: the head has been checked; the domain outlives the shadow.
  static Result<std::unique_ptr<Shadow>> create(const store::Head& head, rdma::Domain& domain);

  // Tells whether the store is the one that this is the copy of.
  bool matches(const store::Head& head) const;
  const store::Head& head() const { return head_; }
  // Returns the table that takes changes of paths; nullptr if the store has none.
  ShadowTable* pathChanges() { return path_changes_; }
  // Returns nullptr if there is no such table.
  ShadowTable* find(std::uint16_t id);
  // In the head's order.
  std::span<const std::unique_ptr<ShadowTable>> tables() const { return tables_; }

  // Calls visit(Piece) -> bool for what has changed in all tables, until it returns false. Returns
  // whether nothing is left of what was to be taken.
  bool take(ShadowTable::Take what, const std::function<bool(const Piece&)>& visit);

  // The same for what has to be added to shared counters.
  bool takeSums(const std::function<bool(const Piece&)>& visit);

  // Brings the most counted keys of all tables of counters into their copies.
  void publishKeys();

  // Whether there are unfinished or full blocks of lists to send, and how many full ones.
  bool listsChanged() const;
  std::uint64_t fullListBlocks() const;
  // Whether a list is about to drop entries, because too much of it is under way.
  bool crowded() const;

 private:
  explicit Shadow(store::Head head) : head_(std::move(head)) {}
  store::Head head_;
  std::vector<std::unique_ptr<ShadowTable>> tables_;
  std::vector<store::ListWriter*> lists_;
  ShadowTable* path_changes_ = nullptr;
};

}  // namespace pingloom::translator
