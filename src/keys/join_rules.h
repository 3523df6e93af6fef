// Decides who may join, by the rules of docs/keys.md: what a token permits, and that no key gets a
// host or an address of another key. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "control.pb.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"
#include "wire/control_protocol.h"

namespace pingloom::keys {

using JoinOutcome = wire::JoinReply::Outcome;

static_assert(wire::kJoinOutcomeNames.size() == wire::JoinReply::Outcome_ARRAYSIZE);

struct JoinRequest {
  explicit JoinRequest(const net::CurveKey& of) : key(of) {}

  net::CurveKey key;
  Role role = Role::kAgent;
  std::string host;                  // for a collector, its name
  std::vector<IpAddress> addresses;  // ascending; empty for collectors
  std::vector<IpAddress> machine;    // other addresses of the host, which are not authorised
  std::optional<IpAddress> from;     // where the connection comes from
};

struct JoinDecision {
  JoinOutcome outcome = wire::JoinReply::UNKNOWN;
  std::string text;  // the reason, for people; "" if authorised
};

// Reads a message from outside; an error says what is malformed. `from` is "" if unknown.
Result<JoinRequest> readJoin(const wire::Join& message, std::string_view from);

// Decides requests one after the other, and changes the list of authorised keys and the book
// accordingly.
class JoinRules {
 public:
  static constexpr std::size_t kMaxAddresses = 257;  // those of an agent, and that of its pages

  // REQUIRES: both outlive the rules, and nothing else changes them meanwhile.
  JoinRules(AuthorizedKeys& authorized, JoinBook& book, Nanos now_utc);

  // `token` is the public key with which the connection was made.
  JoinDecision decide(const JoinRequest& request, const net::CurveKey& token);

 private:
  std::optional<JoinDecision> refusal(const JoinRequest& request) const;
  JoinDecision known(const JoinRequest& request, const AuthorizedKey& entry);
  JoinDecision newKey(const JoinRequest& request, KnownToken& token);
  JoinDecision authorize(AuthorizedKey entry);
  JoinDecision wait(const JoinRequest& request, AuthorizedKey entry, KnownToken& token,
                    std::string why);
  std::string whyUnproved(const JoinRequest& request) const;
  const net::CurveKey* ownerOf(const IpAddress& address) const;
  std::string nameOf(const net::CurveKey& key) const;

  AuthorizedKeys& authorized_;
  JoinBook& book_;
  const Nanos now_utc_;
  std::unordered_map<IpAddress, net::CurveKey, IpAddressHash> owners_;
};

}  // namespace pingloom::keys
