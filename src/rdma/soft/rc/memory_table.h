// The registered memory of a domain of a soft device. It maps an rkey, an address and a length to
// bytes, and checks the peer's permission. Nothing here touches the memory itself. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "rdma/memory_region.h"

namespace pingloom::rdma::soft {

enum class AccessFault : std::uint8_t {
  kNone,
  kRkey,        // no region of the domain has this rkey
  kBounds,      // the range is not entirely within the region
  kPermission,  // the region does not allow the access
};

// The rkey and address that peers use for a region. The rkey has 32 random bits and the address 35;
// the address is a random multiple of 4096 plus the low bits of the memory's own address, which
// keeps its alignment. Neither can be guessed, and the address does not reveal the memory's own.
struct RegionKey {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
};

// A peer's request for `length` bytes at `address`.
struct RemoteRange {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
};

struct FoundMemory {
  AccessFault fault = AccessFault::kNone;
  std::uint8_t* bytes = nullptr;  // has `length` bytes; nullptr if the length is 0
  // Unique among all regions that ever existed. A later lookup of the same rkey that finds another
  // generation has found another region.
  std::uint64_t generation = 0;
};

// Bound: kMax regions. Lookups take constant time; peers cannot force collisions, because the table
// chooses the keys.
class MemoryTable {
 public:
  static constexpr std::size_t kMax = 1 << 16;

  MemoryTable() = default;
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // Returns nullopt when the table is full. The caller owns the memory and keeps it until remove().
  std::optional<RegionKey> add(std::span<std::uint8_t> memory, Access access);
  // Makes the rkey invalid.
  void remove(std::uint32_t rkey);
  // A request of length 0 reaches no memory and is not checked, as with kernel rxe and NICs.
  FoundMemory find(const RemoteRange& range, Access wanted) const;
  std::size_t size() const { return regions_.size(); }

 private:
  struct Region {
    std::span<std::uint8_t> memory;
    std::uint64_t address = 0;
    std::uint64_t generation = 0;
    Access access = Access::kNone;
  };
  using Regions = std::unordered_map<std::uint32_t, Region>;

  Regions regions_;
  // The last result is cached, because all packets of a message use the same region.
  mutable const Regions::value_type* last_ = nullptr;
  std::uint64_t generations_ = 0;
};

// A region of a domain's memory table. It is registered as long as this object exists.
class SoftMemoryRegion final : public MemoryRegion {
 public:
  // REQUIRES: `table` outlives this, and `key` is from its add().
  SoftMemoryRegion(MemoryTable& table, std::span<std::uint8_t> memory, Access access, RegionKey key)
      : table_(table), memory_(memory), access_(access), key_(key) {}
  ~SoftMemoryRegion() override { table_.remove(key_.rkey); }
  SoftMemoryRegion(const SoftMemoryRegion&) = delete;
  SoftMemoryRegion& operator=(const SoftMemoryRegion&) = delete;

  std::span<std::uint8_t> memory() const override { return memory_; }
  Access access() const override { return access_; }
  std::uint64_t address() const override { return key_.address; }
  std::uint32_t rkey() const override { return key_.rkey; }

 private:
  MemoryTable& table_;
  std::span<std::uint8_t> memory_;
  Access access_;
  RegionKey key_;
};

}  // namespace pingloom::rdma::soft
