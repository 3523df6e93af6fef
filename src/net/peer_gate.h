// Decides which peers may use a ROUTER, by their CURVE keys. Refusals are counted by reason, and
// logged at most once a minute for each address. The ROUTER's gate keeper asks at every handshake.
// The ROUTER's owner asks again when a message arrives on a connection that was made before the
// keys changed.
//
// Any thread. Bounds: kMaxRevoked keys are remembered as revoked, and further ones count as
// unknown; kMaxQuieted addresses are distinguished in the log, and further ones are only counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "net/curve_key.h"

namespace pingloom::net {

enum class PeerRefusal : std::uint8_t {
  kUnknownKey,
  kRevoked,
  kWrongRole,       // the key is authorised for another role
  kNoCurve,         // the peer uses plaintext or another mechanism
  kWrongServerKey,  // the peer expects another server's key
  kMalformed,
  // The peer hung up during the handshake. Some of the reasons above look like this, and so do port
  // scans.
  kHungUp,
  kAddress,  // the key is not authorised for this address
  kHost,     // the key is not authorised for this host
  kWaiting,  // the key waits for somebody to approve it
  kRejected,
  kTokenExpired,  // the key is that of a join token
  kTokenUsedUp,
  kJoinOnly,     // a join token was used for something else than joining
  kJoinRefused,  // a request to join was refused
};
constexpr std::array<std::string_view, 15> kPeerRefusalNames = {
    "unknown_key",         "revoked",   "wrong_role",  "no_curve",
    "wrong_server_key",    "malformed", "hung_up",     "address_not_authorized",
    "host_not_authorized", "waiting",   "rejected",    "token_expired",
    "token_used_up",       "join_only", "join_refused"};
static_assert(kPeerRefusalNames.size() == static_cast<std::size_t>(PeerRefusal::kJoinRefused) + 1);
using PeerRefusals = std::array<std::uint64_t, kPeerRefusalNames.size()>;

class PeerGate {
 public:
  static constexpr std::size_t kMaxRevoked = 4096;
  static constexpr std::size_t kMaxQuieted = 1024;
  static constexpr Nanos kQuiet = kMinute;

  // The value says why a known key is refused, or is nullopt if the key is allowed.
  using Keys = std::unordered_map<CurveKey, std::optional<PeerRefusal>, CurveKeyHash>;
  // Addresses that a peer with the key may name as its own, beside the one it connects from.
  using Addresses = std::unordered_map<CurveKey, std::vector<IpAddress>, CurveKeyHash>;

  // `door` names the ROUTER in the log. Every key is refused before the first allow().
  PeerGate(CurvePair own, std::string door) : own_(own), door_(std::move(door)) {}

  const CurvePair& own() const { return own_; }
  // Replaces the keys and their addresses.
  void allow(Keys keys, Addresses addresses = {});
  // Returns a number that grows with every allow().
  std::uint64_t generation() const { return generation_.load(); }

  // Returns why the key is refused, or nullopt if it is allowed.
  std::optional<PeerRefusal> verdict(const CurveKey& key) const;
  // Tells whether the key is allowed, and authorised for this address.
  bool speaksFor(const CurveKey& key, const IpAddress& address) const;
  // Counts a refusal, and logs it unless one from that address was logged within kQuiet. `peer` is
  // the address, or "" if it is unknown.
  void refuse(PeerRefusal reason, std::string_view peer, std::string_view detail, Nanos now_mono);
  PeerRefusals refusals() const;

 private:
  bool mayLog(const std::string& peer, Nanos now_mono);

  const CurvePair own_;
  const std::string door_;
  std::atomic<std::uint64_t> generation_ = 0;
  mutable std::mutex mutex_;  // guards everything below
  Keys keys_;
  Addresses addresses_;
  std::unordered_set<CurveKey, CurveKeyHash> revoked_;
  PeerRefusals refusals_{};
  std::map<std::string, Nanos> said_;  // the time of the last log line, by address
};

// Returns the text for an operator, which follows "refused PEER: ".
std::string_view describe(PeerRefusal reason);

}  // namespace pingloom::net
