// Why a peer is not let in, or not now; each is counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace pingloom::http {

enum class Refusal : std::uint8_t {
  kNoToken,      // none, or a session that has ended: 401
  kWrongToken,   // 401
  kAttempts,     // wrong ones came from that address before: 429
  kRole,         // its token is good for less: 403
  kRate,         // too many requests from that address: 429
  kPlain,        // no TLS where it has to be: 400
  kConnections,  // too many connections of that address: closed
  kHandshake,    // TLS was not agreed on: closed
  kBusy,         // too much is on its way to all peers together: 503
  kUnused,       // a WebSocket whose viewer does not say what for: closed
};
constexpr std::array<std::string_view, 10> kRefusalNames = {
    "no_token",   "wrong_token", "attempts",  "role", "rate",
    "plain_http", "connections", "handshake", "busy", "unused"};
static_assert(kRefusalNames.size() == static_cast<std::size_t>(Refusal::kUnused) + 1);

// What the peer is told that is not just closed.
Response answerTo(Refusal refusal);

}  // namespace pingloom::http
