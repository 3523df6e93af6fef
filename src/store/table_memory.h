// The bytes of a table, as its readers reach them: in memory that another process may write
// meanwhile, or in a store at another host. A plain value; any thread may call the const functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "common/error.h"
#include "store/shared_read.h"

namespace pingloom::store {

// A piece to be read. The offset and the size are divisible by 8.
struct ReadPiece {
  std::uint64_t offset = 0;
  std::span<std::uint8_t> into;
};

// A store at another host.
class RemoteStore {
 public:
  RemoteStore() = default;
  RemoteStore(const RemoteStore&) = delete;
  RemoteStore& operator=(const RemoteStore&) = delete;
  virtual ~RemoteStore() = default;

  // Reads pieces of the store's file, from `base` on, and waits until they are there. When the
  // store cannot be reached any more, they become zeros, and reachable() says why.
  virtual void read(std::uint64_t base, std::span<const ReadPiece> pieces) const = 0;
  // An error if the store could not be reached, now or earlier.
  virtual Status reachable() const = 0;
};

class TableMemory {
 public:
  // REQUIRES: the memory is aligned to 8 and has the table's bytes.
  template <typename Bytes>
  requires std::convertible_to<const Bytes&, std::span<const std::uint8_t>> TableMemory(
      const Bytes& local)
      : local_(local) {}  // a table in memory is the usual case
  // REQUIRES: the store outlives this.
  TableMemory(const RemoteStore& store, std::uint64_t base) : remote_(&store), base_(base) {}

  // REQUIRES: the pieces are inside the table.
  void read(std::span<const ReadPiece> pieces) const {
    if (remote_ != nullptr) return remote_->read(base_, pieces);
    for (const ReadPiece& piece : pieces) {
      copyShared(local_.subspan(piece.offset, piece.into.size()), piece.into);
    }
  }
  void read(std::uint64_t offset, std::span<std::uint8_t> into) const {
    const ReadPiece piece{offset, into};
    read({&piece, 1});
  }

 private:
  std::span<const std::uint8_t> local_;
  const RemoteStore* remote_ = nullptr;
  std::uint64_t base_ = 0;  // of the table in the store's file
};

}  // namespace pingloom::store
