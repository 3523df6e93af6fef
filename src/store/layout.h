// The layout of a store's file (docs/store-format.md): a head page, a status page and tables. All
// numbers in the file are little endian, and offsets are in bytes from its beginning. Plain values
// and pure functions; any thread.
//
// The head page belongs to the collector and is never registered for RDMA. Everything behind it
// belongs to the one writer: the region that it may write begins at kRegionOffset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::store {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kRegionOffset = kPageBytes;      // first byte that the writer reaches
constexpr std::size_t kStatusOffset = kPageBytes;      // the writer's status (writer_status.h)
constexpr std::size_t kTablesOffset = 2 * kPageBytes;  // the first table begins here or later
constexpr std::size_t kMaxTables = 31;
constexpr std::size_t kMaxTableName = 63;                         // bytes
constexpr std::uint64_t kMaxStoreBytes = std::uint64_t{1} << 42;  // 4 TiB
constexpr std::size_t kBlockBytes = 1024;  // a WRITE carries at most one block
constexpr std::size_t kMaxKeyBytes = 40;
constexpr std::size_t kMaxValueBytes = 120;
constexpr std::size_t kSlotHeadBytes = 8;  // CRC and stamp
constexpr std::size_t kMinSlotBytes = 16;
constexpr std::size_t kMaxKeyedSlotBytes = 128;
constexpr std::size_t kMaxSlotBytes = 256;  // of paths
constexpr std::size_t kIpv4Bytes = 4;       // the identity of a hop
constexpr std::size_t kIpv6Bytes = 16;
constexpr std::size_t kMaxPathHops = 10;
constexpr std::size_t kPathHeadBytes = 8;    // before the hops in a slot's value
constexpr std::size_t kMaxEntryBytes = 240;  // of a list
constexpr std::size_t kCounterBytes = 8;
constexpr std::uint32_t kMaxLists = 65536;  // of all tables of a store
constexpr std::uint64_t kMinBlocks = 4;     // of a list
constexpr std::uint16_t kMaxRows = 4;       // of counters
constexpr std::size_t kTopKeyBytes = 64;    // of an entry for a most counted key
constexpr std::uint32_t kMaxTopKeys = 1024;
constexpr std::uint16_t kMaxWays = 16;
constexpr std::uint16_t kMaxChoices = 4;

// Flags of tables. Either all tables of a store are shared or none.
constexpr std::uint32_t kShared = 1;  // counters: several writers add to them by RDMA atomics
constexpr std::uint32_t kCopies = 2;  // keyed: each of the key's buckets, of one slot, has a copy

enum class TableKind : std::uint16_t { kKeyed = 1, kLists = 2, kCounters = 3, kPaths = 4 };
std::string_view name(TableKind kind);
// Whether such a table consists of slots for keys.
constexpr bool hasSlots(TableKind kind) {
  return kind == TableKind::kKeyed || kind == TableKind::kPaths;
}

// A table's descriptor.
struct Table {
  TableKind kind = TableKind::kKeyed;
  std::uint16_t id = 0;              // the number that reports name the table by; unique in a store
  std::uint32_t flags = 0;           // kShared, kCopies or 0
  std::uint64_t offset = 0;          // of its first byte in the file; divisible by kPageBytes
  std::uint64_t bytes = 0;           // divisible by kPageBytes
  std::uint64_t units = 0;           // buckets, blocks of each list, or counters of each row
  std::uint32_t unit_bytes = 0;      // of a bucket, block or counter
  std::uint32_t value_bytes = 0;     // of a value or list entry; of paths, a slot without its head
  std::uint16_t ways = 0;            // slots of a bucket
  std::uint16_t choices = 0;         // buckets that a key may be in; rows of counters
  std::uint32_t lists = 0;           // number of lists, each a ring of `units` blocks
  std::uint64_t seed = 0;            // of the hash; random and secret
  std::uint16_t hops = 0;            // most hops of a path
  std::uint16_t identity_bytes = 0;  // bytes that identify a hop: 4 or 16
  std::uint32_t top_keys = 0;        // of counters: room for so many of the most counted keys
  std::string name;                  // 1 to kMaxTableName characters: a-z, 0-9, _ and -

  // REQUIRES: the table has slots and has been checked.
  std::size_t slotBytes() const { return unit_bytes / ways; }
  bool hasCopies() const { return (flags & kCopies) != 0; }
  bool isShared() const { return (flags & kShared) != 0; }
  // Where the most counted keys begin in a table of counters: in the block behind its rows.
  // REQUIRES: the table has room for its units.
  std::uint64_t topKeysOffset() const {
    return (units * unit_bytes * choices + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  }
  bool operator==(const Table&) const = default;
};

enum class StoreState : std::uint16_t { kServing = 1, kClosed = 2 };

struct Head {
  StoreState state = StoreState::kServing;
  std::uint64_t store = 0;  // a random number that identifies the store
  std::uint64_t epoch = 0;  // one more with each connection of a writer
  Nanos made = 0;           // UTC; stamps count from here
  std::uint64_t bytes = 0;  // of the whole file
  std::vector<Table> tables;

  // Whether several translators may write the store.
  bool isShared() const { return !tables.empty() && tables.front().isShared(); }
  bool operator==(const Head&) const = default;
};

using HeadPage = std::array<std::uint8_t, kPageBytes>;

// Whether the name can be a table's or a store's.
bool isName(std::string_view name);

// Checks everything that decodeHead() checks besides the page's own magic, version and CRC: that
// each table is inside the file, is aligned, has room for its units, and overlaps no other. The
// error's entity is the table.
Status checkHead(const Head& head);

// REQUIRES: checkHead(head).
HeadPage encodeHead(const Head& head);

// Decodes the first kPageBytes of a store. `page` may be shorter, which is an error. A head that
// is returned needs no further checks, except that the file has `bytes`.
Result<Head> decodeHead(std::span<const std::uint8_t> page);

}  // namespace pingloom::store
