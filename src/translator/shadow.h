// The translator's copy of its store: what the store will hold when everything has been written.
// Its memory is registered for the WRITEs that bring it there. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/error.h"
#include "rdma/domain.h"
#include "store/keyed_writer.h"
#include "store/layout.h"

namespace pingloom::translator {

// A piece of the store that has to be written.
struct Piece {
  std::uint64_t offset = 0;  // in the store's file
  std::span<std::uint8_t> bytes;
  std::size_t table = 0;  // index of ShadowTable
};

// Frees memory that was mapped.
struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::uint8_t* memory) const;
};

class ShadowTable {
 public:
  static Result<std::unique_ptr<ShadowTable>> create(const store::Table& table,
                                                     rdma::Domain& domain);

  store::KeyedWriter& writer() { return *writer_; }
  const store::Table& table() const { return writer_->table(); }
  std::span<std::uint8_t> content() { return content_; }
  const rdma::MemoryRegion& region() const { return *region_; }

 private:
  ShadowTable() = default;
  Status map(std::uint64_t bytes);

  std::unique_ptr<std::uint8_t, Unmap> memory_;
  std::span<std::uint8_t> content_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<store::KeyedWriter> writer_;
};

class Shadow {
 public:
  // The content is empty. Tables of kinds that this version does not write are left out. REQUIRES:
  // the head has been checked; the domain outlives the shadow.
  static Result<std::unique_ptr<Shadow>> create(const store::Head& head, rdma::Domain& domain);

  // Tells whether the store is the one that this is the copy of.
  bool matches(const store::Head& head) const;
  const store::Head& head() const { return head_; }
  // Returns nullptr if there is no such table.
  const store::Table* describe(std::uint16_t id) const;
  // Returns nullptr if the table is not keyed.
  ShadowTable* keyed(std::uint16_t id);
  std::span<const std::unique_ptr<ShadowTable>> tables() const { return tables_; }

  // Calls visit(Piece) -> bool for what has changed, until it returns false: the blocks of all
  // tables first, then slots. Returns whether nothing is left.
  template <typename Visit>
  bool takeDirty(Visit&& visit) {
    const auto each = [&](auto take) {
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        const auto one = [&](std::uint64_t offset, std::span<std::uint8_t> bytes) {
          return visit(Piece{offset, bytes, i});
        };
        if (!take(tables_[i]->writer(), one)) return false;
      }
      return true;
    };
    return each([](auto& writer, const auto& one) { return writer.takeBlocks(one); }) &&
           each([](auto& writer, const auto& one) { return writer.takeSlots(one); });
  }

 private:
  explicit Shadow(store::Head head) : head_(std::move(head)) {}
  store::Head head_;
  std::vector<std::unique_ptr<ShadowTable>> tables_;
};

}  // namespace pingloom::translator
