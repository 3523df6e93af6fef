#include "controller/control/presence_log.h"

#include <utility>

namespace pingloom::controller {

void PresenceLog::note(const Registry& registry, std::span<const IpAddress> addresses,
                       Instant now) {
  using Kind = PresenceRecord::Kind;
  for (const IpAddress& address : addresses) {
    const Presence presence = registry.presence(address);
    Known& known = known_[address];
    if (registry.isElsewhere(address)) {
      // It was taken for gone, and has registered there meanwhile.
      if (known.gone && presence.alive) records_.push_back({now.utc, address, Kind::kStayed});
      known = {false, presence.since_utc, presence.endpoint_since_utc, true, false};
      continue;
    }
    // An agent may have been away and back between two calls.
    const bool came = presence.alive && (!known.alive || presence.since_utc != known.since_utc);
    if (came) {
      // One that has come from another controller was not away meanwhile.
      const bool moved = known.elsewhere && presence.since_utc == known.since_utc;
      const bool stayed = presence.since_utc == 0 || moved;
      records_.push_back(
          {stayed ? now.utc : presence.since_utc, address, stayed ? Kind::kStayed : Kind::kCame});
    } else if (!presence.alive && (known.alive || (known.elsewhere && presence.known))) {
      // The agent was gone before its lease ended.
      const bool heard = presence.heard_utc != 0 && presence.heard_utc < now.utc;
      records_.push_back({heard ? presence.heard_utc : now.utc, address, Kind::kGone});
    }
    if (presence.endpoint_since_utc != 0 &&
        presence.endpoint_since_utc != known.endpoint_since_utc) {
      records_.push_back({presence.endpoint_since_utc, address, Kind::kEndpoint});
    }
    const bool gone = !presence.alive && (known.gone || known.alive || known.elsewhere);
    known = {presence.alive, presence.since_utc, presence.endpoint_since_utc, false, gone};
  }
}

void PresenceLog::noteAll(const Registry& registry, Instant now) {
  for (const auto& [id, agent] : registry.agents()) {
    if (!agent->info.alive || !agent->info.isHere()) continue;
    for (const IpAddress& address : agent->info.addresses) {
      records_.push_back({now.utc, address, PresenceRecord::Kind::kStayed});
    }
  }
}

std::vector<PresenceRecord> PresenceLog::take() { return std::exchange(records_, {}); }

}  // namespace pingloom::controller
