#include "rdma/soft/rc/memory_table.h"

#include "common/random.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint64_t kPageMask = 4095;
// Addresses stay below 2^47, so that no region's end wraps around.
constexpr std::uint64_t kAddressMask = (1ULL << 47) - 1;

std::uint64_t addressFor(const std::uint8_t* memory) {
  const auto own = reinterpret_cast<std::uintptr_t>(memory);
  return (randomU64() & kAddressMask & ~kPageMask) | (own & kPageMask);
}

}  // namespace

std::optional<RegionKey> MemoryTable::add(std::span<std::uint8_t> memory, Access access) {
  if (regions_.size() == kMax) return std::nullopt;
  RegionKey key;
  do {
    key.rkey = static_cast<std::uint32_t>(randomU64());
  } while (key.rkey == 0 || regions_.contains(key.rkey));
  key.address = addressFor(memory.data());
  regions_[key.rkey] = {memory, key.address, ++generations_, access};
  return key;
}

void MemoryTable::remove(std::uint32_t rkey) {
  last_ = nullptr;
  regions_.erase(rkey);
}

FoundMemory MemoryTable::find(const RemoteRange& range, Access wanted) const {
  if (range.length == 0) return {};
  if (last_ == nullptr || last_->first != range.rkey) {
    const auto found = regions_.find(range.rkey);
    if (found == regions_.end()) return {.fault = AccessFault::kRkey};
    last_ = &*found;
  }
  const Region& region = last_->second;
  if (!allows(region.access, wanted)) return {.fault = AccessFault::kPermission};
  const std::uint64_t offset = range.address - region.address;  // wraps to a huge value if before
  if (offset > region.memory.size() || range.length > region.memory.size() - offset) {
    return {.fault = AccessFault::kBounds};
  }
  return {AccessFault::kNone, region.memory.data() + offset, region.generation};
}

}  // namespace pingloom::rdma::soft
