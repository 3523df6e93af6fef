// Memory that a device may read or write, registered once; the handle keeps it registered.
#pragma once

#include <cstdint>
#include <span>

namespace pingloom::rdma {

// What peers may do with a region. Flags; none by default.
enum class Access : std::uint8_t { kNone = 0, kRead = 1, kWrite = 2, kAtomic = 4 };
constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool allows(Access granted, Access wanted) {
  const auto bits = static_cast<std::uint8_t>(wanted);
  return (static_cast<std::uint8_t>(granted) & bits) == bits;
}

// Destruction deregisters it: its rkey is dead at once, for requests under way too. The memory
// itself is the caller's and outlives the region.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual std::span<std::uint8_t> memory() const = 0;
  virtual Access access() const = 0;
  // Peers name the region's first byte with these two. An unguessable number where the device
  // chooses it freely.
  virtual std::uint64_t address() const = 0;
  virtual std::uint32_t rkey() const = 0;
};

}  // namespace pingloom::rdma
