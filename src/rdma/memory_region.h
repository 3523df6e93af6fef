// A memory region that a device may read or write. The memory is registered as long as the handle
// exists.
#pragma once

#include <cstdint>
#include <span>

namespace pingloom::rdma {

// Flags for what peers may do with a region; by default nothing.
enum class Access : std::uint8_t { kNone = 0, kRead = 1, kWrite = 2, kAtomic = 4 };
constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool allows(Access granted, Access wanted) {
  const auto bits = static_cast<std::uint8_t>(wanted);
  return (static_cast<std::uint8_t>(granted) & bits) == bits;
}

// The destructor deregisters the region; its rkey is invalid at once, also for requests in flight.
// The caller owns the memory, which outlives the region.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::span<std::uint8_t> memory() const = 0;
  virtual Access access() const = 0;
  // Peers address the region's first byte with these two. The address cannot be guessed if the
  // device is free to choose it.
  virtual std::uint64_t address() const = 0;
  virtual std::uint32_t rkey() const = 0;
};

}  // namespace pingloom::rdma
