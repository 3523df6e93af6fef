// The reasons for which a peer is refused. Each is counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace pingloom::http {

enum class Refusal : std::uint8_t {
  kNoToken,      // the request has no token, or its session has ended: 401
  kWrongToken,   // the token is unknown: 401
  kAttempts,     // too many unknown tokens from the address: 429
  kRole,         // the token's role does not suffice: 403
  kRate,         // too many requests from the address: 429
  kPlain,        // the connection has no TLS where TLS is required: 400
  kConnections,  // too many connections from the address: closed
  kHandshake,    // the TLS handshake failed: closed
  kBusy,         // too many bytes are in flight to all peers together: 503
  kUnused,       // a WebSocket's viewer watches nothing: closed
};
constexpr std::array<std::string_view, 10> kRefusalNames = {
    "no_token",   "wrong_token", "attempts",  "role", "rate",
    "plain_http", "connections", "handshake", "busy", "unused"};
static_assert(kRefusalNames.size() == static_cast<std::size_t>(Refusal::kUnused) + 1);

// The answer for a refused peer whose connection is not just closed.
Response answerTo(Refusal refusal);

}  // namespace pingloom::http
