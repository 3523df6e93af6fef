// Who may speak on a ROUTER, told by CURVE keys, and what has become of those who may not: counted
// by reason, and logged at most once a minute for each address they come from. The ROUTER's gate
// keeper asks it at every handshake; its owner asks it again for what comes on connections that
// stood before the keys changed.
//
// Any thread. Bounds: kMaxRevoked keys are remembered as revoked (others count as unknown), and
// kMaxQuieted addresses are told apart in the log (more are counted only).
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

#include "common/time.h"
#include "net/curve_key.h"

namespace pingloom::net {

enum class PeerRefusal : std::uint8_t {
  kUnknownKey,
  kRevoked,
  kWrongRole,       // the key opens other doors
  kNoCurve,         // plaintext, or another mechanism
  kWrongServerKey,  // the handshake was meant for another server's key
  kMalformed,
  kHungUp,   // during the handshake: some of those above, port scans, peers that say nothing
  kAddress,  // the key does not speak for this address
  kHost,     // nor for this host
};
constexpr std::array<std::string_view, 9> kPeerRefusalNames = {
    "unknown_key",        "revoked",   "wrong_role", "no_curve",
    "wrong_server_key",   "malformed", "hung_up",    "address_not_authorized",
    "host_not_authorized"};
static_assert(kPeerRefusalNames.size() == static_cast<std::size_t>(PeerRefusal::kHost) + 1);
using PeerRefusals = std::array<std::uint64_t, kPeerRefusalNames.size()>;

class PeerGate {
 public:
  static constexpr std::size_t kMaxRevoked = 4096;
  static constexpr std::size_t kMaxQuieted = 1024;
  static constexpr Nanos kQuiet = kMinute;

  // The value: may it speak here? False: it is a key for something else.
  using Keys = std::unordered_map<CurveKey, bool, CurveKeyHash>;

  // `door` names the ROUTER in the log. Lets nobody in before allow().
  PeerGate(CurvePair own, std::string door) : own_(own), door_(std::move(door)) {}

  const CurvePair& own() const { return own_; }
  // From now on these and no others.
  void allow(Keys keys);
  // Grows with every allow().
  std::uint64_t generation() const { return generation_.load(); }

  // Why the key may not speak; nullopt: it may.
  std::optional<PeerRefusal> verdict(const CurveKey& key) const;
  // Counts, and logs where that address was not heard of within kQuiet. `peer`: its address, or "".
  void refuse(PeerRefusal reason, std::string_view peer, std::string_view detail, Nanos now_mono);
  PeerRefusals refusals() const;

 private:
  bool sayable(const std::string& peer, Nanos now_mono);

  const CurvePair own_;
  const std::string door_;
  std::atomic<std::uint64_t> generation_ = 0;
  mutable std::mutex mutex_;  // of all below
  Keys keys_;
  std::unordered_set<CurveKey, CurveKeyHash> revoked_;
  PeerRefusals refusals_{};
  std::map<std::string, Nanos> said_;  // by address: when
};

// What an operator reads of a reason, after "refused PEER: ".
std::string_view describe(PeerRefusal reason);

}  // namespace pingloom::net
