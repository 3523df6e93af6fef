// The memory of a soft device that peers may reach: which bytes an rkey, an address and a length
// stand for, and whether the peer may do there what it wants to. Nothing here touches the memory.
// One thread.
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
  kRkey,        // no region has it, or none has it any more
  kBounds,      // not wholly within the region
  kPermission,  // the region does not allow it
};

// Where a region begins for its peers. The rkey is random in 32 bits and the address in 35 (a
// multiple of 4096, and below it the bits of the memory's own address, so that alignment holds), so
// neither is guessed, nor does the address say where the process keeps its memory.
struct RegionKey {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
};

// A request for `length` bytes at `address`, as it came from a peer.
struct RemoteRange {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
};

struct FoundMemory {
  AccessFault fault = AccessFault::kNone;
  std::uint8_t* bytes = nullptr;  // of `length`; nullptr where that is 0
  // Different for every region there ever was: whoever comes back with the same rkey must find the
  // same generation, or it is another region.
  std::uint64_t generation = 0;
};

// Bound: kMax regions. Lookups take constant time: the keys are ours, so nobody can make them
// collide.
class MemoryTable {
 public:
  static constexpr std::size_t kMax = 1 << 16;

  MemoryTable() = default;
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // Nothing when the table is full. The memory is the caller's, until remove().
  std::optional<RegionKey> add(std::span<std::uint8_t> memory, Access access);
  // The rkey is dead from here on.
  void remove(std::uint32_t rkey);
  // A length of 0 reaches no memory, so it is not checked: what kernel rxe and NICs do.
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
  // The one found last: a message's packets are all for one.
  mutable const Regions::value_type* last_ = nullptr;
  std::uint64_t generations_ = 0;
};

}  // namespace pingloom::rdma::soft
