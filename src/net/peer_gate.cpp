#include "net/peer_gate.h"

#include <algorithm>

#include "common/log.h"

namespace pingloom::net {

void PeerGate::allow(Keys keys, Addresses addresses) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, here] : keys_) {
    // A key that waited only, and a token that had expired anyway, were never revoked.
    if (keys.contains(key) || (here && here != PeerRefusal::kWrongRole)) continue;
    if (revoked_.size() >= kMaxRevoked) revoked_.clear();
    revoked_.insert(key);
  }
  for (const auto& [key, here] : keys) revoked_.erase(key);
  keys_ = std::move(keys);
  addresses_ = std::move(addresses);
  ++generation_;
}

bool PeerGate::speaksFor(const CurveKey& key, const IpAddress& address) const {
  const std::lock_guard lock(mutex_);
  const auto allowed = keys_.find(key);
  const auto found = addresses_.find(key);
  if (allowed == keys_.end() || allowed->second || found == addresses_.end()) return false;
  return std::find(found->second.begin(), found->second.end(), address) != found->second.end();
}

std::optional<PeerRefusal> PeerGate::verdict(const CurveKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) {
    return revoked_.contains(key) ? PeerRefusal::kRevoked : PeerRefusal::kUnknownKey;
  }
  return found->second;
}

void PeerGate::refuse(PeerRefusal reason, std::string_view peer, std::string_view detail,
                      Nanos now_mono) {
  const std::string from = peer.empty() ? "a peer" : std::string(peer);
  {
    const std::lock_guard lock(mutex_);
    ++refusals_[static_cast<std::size_t>(reason)];
    if (!mayLog(from, now_mono)) return;
  }
  log::warning("{}: refused {}: {}{}{} (further refusals from there are only counted for a minute)",
               door_, from, describe(reason), detail.empty() ? "" : ": ", detail);
}

bool PeerGate::mayLog(const std::string& peer, Nanos now_mono) {
  const auto found = said_.find(peer);
  if (found != said_.end() && now_mono - found->second < kQuiet) return false;
  if (found == said_.end() && said_.size() >= kMaxQuieted) {
    std::erase_if(said_, [&](const auto& one) { return now_mono - one.second >= kQuiet; });
    if (said_.size() >= kMaxQuieted) return false;
  }
  said_[peer] = now_mono;
  return true;
}

PeerRefusals PeerGate::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

std::string_view describe(PeerRefusal reason) {
  switch (reason) {
    case PeerRefusal::kUnknownKey:
      return "its key is not authorised";
    case PeerRefusal::kRevoked:
      return "its key was revoked";
    case PeerRefusal::kWrongRole:
      return "its key is authorised for another role";
    case PeerRefusal::kNoCurve:
      return "it does not encrypt; its configuration needs 'keys'";
    case PeerRefusal::kWrongServerKey:
      return "it expects another server key here";
    case PeerRefusal::kMalformed:
      return "its handshake is malformed";
    case PeerRefusal::kHungUp:
      return "it hung up during the handshake; it may not encrypt, or it expects another server "
             "key here";
    case PeerRefusal::kAddress:
      return "its key is not authorised for that address";
    case PeerRefusal::kHost:
      return "its key is not authorised for that host";
    case PeerRefusal::kWaiting:
      return "its key waits for `pingloom keys approve`";
    case PeerRefusal::kRejected:
      return "its key was rejected";
    case PeerRefusal::kTokenExpired:
      return "its join token has expired";
    case PeerRefusal::kTokenUsedUp:
      return "its join token is used up";
    case PeerRefusal::kJoinOnly:
      return "a join token is for joining only";
    case PeerRefusal::kJoinRefused:
      return "it may not join";
  }
  return "";
}

}  // namespace pingloom::net
