// Packet sequence numbers. They have 24 bits on the wire and 64 bits inside, where they never wrap.
// Plain values.
#pragma once

#include <cstdint>

#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft {

// Returns the wide number of a first PSN. It is far enough from 0 that smaller numbers exist.
constexpr std::uint64_t widePsn(std::uint32_t psn) { return (1ULL << 24) + (psn & kMask24); }
constexpr std::uint32_t wirePsn(std::uint64_t psn) {
  return static_cast<std::uint32_t>(psn) & kMask24;
}
// Returns the number nearest to `near` whose low 24 bits are `psn`.
constexpr std::uint64_t widePsnNear(std::uint32_t psn, std::uint64_t near) {
  const auto away = (psn - static_cast<std::uint32_t>(near)) << 8;
  return near + static_cast<std::uint64_t>(static_cast<std::int32_t>(away) / 256);
}
static_assert(wirePsn(widePsn(0xFFFFFF) + 1) == 0);
static_assert(widePsnNear(0, widePsn(0xFFFFFF)) == widePsn(0xFFFFFF) + 1);
static_assert(widePsnNear(0xFFFFFF, widePsn(0xFFFFFF) + 1) == widePsn(0xFFFFFF));

// Returns the number of packets of a message; an empty message has one.
constexpr std::uint64_t packetsOf(std::uint32_t length, std::uint32_t mtu) {
  return length == 0 ? 1 : (std::uint64_t{length} + mtu - 1) / mtu;
}
constexpr std::uint32_t kMaxMessage = 1U << 31;

}  // namespace pingloom::rdma::soft
