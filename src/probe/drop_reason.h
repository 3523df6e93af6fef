// Why a transport dropped a packet that reached it. Plain values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/probe_packet.h"

namespace pingloom::probe {

enum class DropReason : std::uint8_t {
  kShort,
  kMagic,
  kVersion,
  kType,
  kLength,
  kUnknownId,
  kNonce,
  kSource,
  kRateLimited,
  kReceiveOverflow,
  kQKey,   // RDMA: the PING asks for an answer to a privileged Q_Key
  kTrace,  // says something of a trace packet that is not in flight
};
constexpr std::array<std::string_view, 12> kDropReasonNames = {
    "short",  "magic",        "version",          "type",  "length", "unknown_id", "nonce",
    "source", "rate_limited", "receive_overflow", "q_key", "trace"};
static_assert(static_cast<std::size_t>(DropReason::kTrace) + 1 == kDropReasonNames.size());

// Packets dropped, by reason; indexes of kDropReasonNames.
using DropCounts = std::array<std::uint64_t, kDropReasonNames.size()>;

inline void count(DropReason reason, DropCounts& counts) {
  ++counts[static_cast<std::size_t>(reason)];
}

// Why a packet that the parser refused is dropped. REQUIRES: error != kNone.
constexpr DropReason reasonOf(wire::ProbeParseError error) {
  switch (error) {
    case wire::ProbeParseError::kMagic:
      return DropReason::kMagic;
    case wire::ProbeParseError::kVersion:
      return DropReason::kVersion;
    case wire::ProbeParseError::kType:
      return DropReason::kType;
    case wire::ProbeParseError::kLength:
      return DropReason::kLength;
    default:
      return DropReason::kShort;
  }
}

}  // namespace pingloom::probe
