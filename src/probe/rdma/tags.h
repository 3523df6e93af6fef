// The id of a sent message on an endpoint. Its upper half is the kind of message, and its lower
// half is the exchange's id, the responder's number, or 0 for trace packets.
#pragma once

#include <cstdint>

namespace pingloom::probe::rdma_ud {

enum class SendKind : std::uint8_t { kPing = 1, kPong = 2, kAck = 3, kTrace = 4 };

constexpr std::uint64_t tagOf(SendKind kind, std::uint32_t number) {
  return static_cast<std::uint64_t>(kind) << 32 | number;
}
constexpr SendKind kindOf(std::uint64_t tag) { return static_cast<SendKind>(tag >> 32); }
constexpr std::uint32_t numberOf(std::uint64_t tag) { return static_cast<std::uint32_t>(tag); }

}  // namespace pingloom::probe::rdma_ud
