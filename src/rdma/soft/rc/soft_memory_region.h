// A region of a soft device's memory table; it is registered as long as this object exists.
#pragma once

#include "rdma/memory_region.h"
#include "rdma/soft/rc/memory_table.h"

namespace pingloom::rdma::soft {

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
