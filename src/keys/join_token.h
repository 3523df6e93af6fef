// A join token: the text that lets a new host's key be authorised (docs/keys.md). It holds the
// controller's public key, a CURVE key pair of its own, and when it expires. A host connects to the
// controller with the token's pair; the controller knows only that pair's public key, from which
// the secret one cannot be computed. A plain value; any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "common/time.h"
#include "net/curve_key.h"

namespace pingloom::keys {

struct JoinToken {
  static constexpr std::string_view kPrefix = "pingloom-join-";
  static constexpr std::size_t kTextBytes = kPrefix.size() + 2 * (32 + 32 + 4 + 4);

  net::CurveKey controller;
  net::CurvePair own;
  Nanos expires_utc = 0;  // whole seconds, before 2106

  // The text needs no quotes in a shell and in YAML.
  std::string text() const;
  // The error does not repeat the text, because that is a secret.
  static Result<JoinToken> parse(std::string_view text);
};

// The eight digits that name a token in lists and logs, from its public key.
std::string tokenId(const net::CurveKey& public_key);

}  // namespace pingloom::keys
