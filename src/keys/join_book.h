// Holds what a controller knows about joining (docs/keys.md): the tokens with which hosts may join,
// and the hosts that wait for approval. It is the content of join.yaml, which is in the same folder
// as the list of authorised keys. The file has no secrets. A plain value; any thread.
//
// Bounds: kMaxTokens, kMaxRequests, kMaxBytes of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "keys/authorized_keys.h"

namespace pingloom::keys {

// A token as the controller knows it: without its secret key.
struct KnownToken {
  static constexpr std::uint64_t kMaxUses = 1U << 20;

  explicit KnownToken(const net::CurveKey& of) : key(of) {}

  net::CurveKey key;  // its public key
  std::string name;   // for people; may be ""
  Nanos created_utc = 0;
  Nanos expires_utc = 0;
  std::uint64_t uses = 0;  // the number of keys that may join with it; 0: any number
  std::uint64_t used = 0;
  std::optional<Role> role;  // nullopt: any
  bool manual = false;       // whether a person has to approve each key

  bool expired(Nanos now_utc) const { return now_utc >= expires_utc; }
  bool usedUp() const { return uses != 0 && used >= uses; }
};

// A key that waits to be approved, or that was rejected.
struct WaitingKey {
  explicit WaitingKey(AuthorizedKey of) : entry(std::move(of)) {}

  AuthorizedKey entry;  // what approving it adds to the list of authorised keys
  std::string from;     // the address it was sent from, or ""
  std::string why;      // why it waits
  Nanos asked_utc = 0;
  bool rejected = false;
};

struct JoinBook {
  static constexpr std::size_t kMaxTokens = 1024;
  static constexpr std::size_t kMaxRequests = 4096;
  static constexpr std::size_t kMaxBytes = 16U << 20;
  // Expired tokens and rejected keys are forgotten after this time.
  static constexpr Nanos kRemembered = 7 * 24 * kHour;

  // The error's entity is file:line:column.
  static Result<JoinBook> parse(std::string_view text, std::string_view file);
  std::string text() const;  // the text of the file, which parse() reads

  KnownToken* token(const net::CurveKey& key);  // nullptr if unknown
  WaitingKey* waiting(const net::CurveKey& key);
  void forgetOld(Nanos now_utc);

  std::vector<KnownToken> tokens;
  std::vector<WaitingKey> requests;
};

}  // namespace pingloom::keys
