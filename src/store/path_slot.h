// Paths: what the slots of a table of paths contain behind their head (docs/store-format.md), and
// the addresses and times of their hops. Plain values and pure functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "store/layout.h"

namespace pingloom::store {

constexpr std::size_t kRttBytes = 4;  // behind the identity in a postcard's value, big endian

// The number of bytes that a hop occupies in a slot. REQUIRES: identities of 4 or 16 bytes.
constexpr std::size_t pathHopBytes(std::size_t identity_bytes) {
  return identity_bytes == kIpv4Bytes ? 8 : 24;
}

struct PathHop {
  std::array<std::uint8_t, kIpv6Bytes> identity{};  // usually an address, in network order
  std::uint32_t rtt_ns = 0;                         // 0: not known; 2^32-1: this or more
};

struct Path {
  std::uint16_t present = 0;  // bit h: hop h is known
  std::uint8_t hops = 0;      // the length of the path; 0: not known
  std::uint32_t changes = 0;  // how often another identity took the place of a hop's
  std::array<PathHop, kMaxPathHops> hop{};

  bool has(std::size_t index) const { return (present >> index & 1) != 0; }
  bool complete() const { return isComplete(present, hops); }
  // Whether all hops of a path with this length are present.
  static bool isComplete(std::uint16_t present, std::uint8_t hops) {
    return hops != 0 && (present & maskOf(hops)) == maskOf(hops);
  }
  static std::uint16_t maskOf(std::uint8_t hops) {
    return static_cast<std::uint16_t>((1U << hops) - 1);
  }
};

// `out` becomes the value of a slot. REQUIRES: the table has been checked and is one of paths;
// `out` has its value_bytes.
void encodePath(const Table& table, const Path& path, std::span<std::uint8_t> out);
// `value` is the value of a slot whose checksum is right. Hops beyond the table's are left out.
Path decodePath(const Table& table, std::span<const std::uint8_t> value);

}  // namespace pingloom::store
