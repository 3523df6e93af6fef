// What agents and controllers agree on besides their messages (control.proto,
// docs/control-messages.md). Plain values; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/text.h"

namespace pingloom::wire {

constexpr std::uint32_t kControlVersion = 1;
constexpr std::uint16_t kDefaultControlPort = 20711;
constexpr std::size_t kMaxHostName = 253;       // bytes
constexpr std::size_t kMaxController = 263;     // bytes of HOST:PORT
constexpr std::size_t kMaxHostAddresses = 256;  // that one agent registers
constexpr std::size_t kMaxCollectors = 1024;    // that agents are told of
// addresses that the key of a collector has beside the one it connects from
constexpr std::size_t kMaxCollectorAddresses = 64;
// The controller keeps incarnations and sequences in SQLite, whose integers are signed.
constexpr std::uint64_t kMaxIncarnation = INT64_MAX;
constexpr std::uint64_t kMaxSequence = INT64_MAX;

// The names of the outcomes of a request to join, by their number in JoinReply.
constexpr std::array<std::string_view, 13> kJoinOutcomeNames = {
    "unknown",       "authorized", "waiting",       "malformed", "wrong_role",
    "key_taken",     "host_taken", "address_taken", "rejected",  "token_expired",
    "token_used_up", "busy",       "not_kept"};

// A host id: 1 to kMaxHostName bytes without blanks and control characters.
inline bool isHostName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHostName && isOneWord(text);
}

// Identifies a batch of one host, so that it counts once, however often it is sent. Ordered: older
// incarnations first.
struct BatchId {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;  // from 1 within an incarnation

  auto operator<=>(const BatchId&) const = default;
};

}  // namespace pingloom::wire
