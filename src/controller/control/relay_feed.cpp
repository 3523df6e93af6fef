#include "controller/control/relay_feed.h"

#include <utility>

#include "common/log.h"
#include "controller/model/collector_codec.h"
#include "controller/model/cover_codec.h"
#include "plan/endpoint_codec.h"
#include "wire/control_protocol.h"
#include "wire/nic_counter_codec.h"
#include "wire/page_owner_codec.h"
#include "wire/path_codec.h"

namespace pingloom::controller {
namespace {

void encodeRegistration(const Agent& agent, wire::Register& out) {
  const AgentInfo& info = agent.info;
  out.set_control_version(wire::kControlVersion);
  out.set_host(info.host);
  out.set_incarnation(info.incarnation);
  out.set_software_version(info.software_version);
  for (const IpAddress& address : info.addresses) out.add_addresses(address.wire());
  for (const IpAddress& address : info.rdma_addresses) out.add_rdma_addresses(address.wire());
  for (const AgentEndpoint& at : info.endpoints) {
    plan::encode(at.endpoint, *out.add_endpoints());
  }
  out.set_port(info.port);
  out.set_plan_hash(agent.plan_hash);
  if (info.pages) out.set_pages(info.pages->text());
}

NicUpdate allOf(const HostCounters& counters) {
  NicUpdate made;
  made.complete = true;
  for (const HostPort& port : counters.ports) {
    NicPort& to = made.ports.emplace_back();
    to.device = port.device;
    to.port = port.port;
    for (const HostCounter& counter : port.counters)
      to.counters.push_back({counter.id, counter.total});
  }
  return made;
}

void encodeHeartbeat(const Agent& agent, wire::Heartbeat& out) {
  const AgentInfo& info = agent.info;
  out.set_incarnation(info.incarnation);
  out.set_plan_hash(agent.plan_hash);
  wire::AgentStatus& status = *out.mutable_status();
  status.set_spooled_batches(info.spooled_batches);
  status.set_spooled_bytes(info.spooled_bytes);
  status.set_spool_dropped(info.spool_dropped);
  status.set_pings_sent(info.pings_sent);
  status.set_pings_skipped(info.pings_skipped);
  status.set_stalls(info.stalls);
  status.set_refused_packets(info.refused_packets);
  if (info.page_owners != nullptr) wire::encode(*info.page_owners, *status.mutable_page_owners());
  if (info.counters != nullptr) wire::encode(allOf(*info.counters), *status.mutable_counters());
}

void encodeAgent(const Agent& agent, wire::RelayedAgent& out) {
  encodeRegistration(agent, *out.mutable_registration());
  encodeHeartbeat(agent, *out.mutable_heartbeat());
  out.set_present_since_utc_ns(agent.present_since_utc);
  out.set_first_seen_utc_ns(agent.info.first_seen_utc);
  out.set_last_seen_utc_ns(agent.info.last_seen_utc);
  out.set_alive(agent.info.alive);
  out.set_public_key(agent.info.public_key);
}

// Collects what is known already into pieces of about kPieceBytes.
class Pieces {
 public:
  Pieces() {
    message_.mutable_relays()->set_from_start(true);
    message_.mutable_relays()->set_takes_bursts(true);
  }

  wire::Relay& add(const std::string& host) {
    if (bytes_ > RelayFeed::kPieceBytes) end(false);
    wire::Relay& relay = *message_.mutable_relays()->add_relays();
    relay.set_host(host);
    return relay;
  }
  void added(const wire::Relay& relay) { bytes_ += relay.ByteSizeLong(); }
  std::vector<std::shared_ptr<const std::string>> take() {
    end(true);
    return std::move(done_);
  }

 private:
  void end(bool complete) {
    message_.mutable_relays()->set_complete(complete);
    done_.push_back(std::make_shared<const std::string>(message_.SerializeAsString()));
    message_.Clear();
    bytes_ = 0;
  }

  wire::ControllerMessage message_;
  std::size_t bytes_ = 0;
  std::vector<std::shared_ptr<const std::string>> done_;
};

// A message without a relay, which says that this controller is there.
std::shared_ptr<const std::string> nothingNew(const CollectorRegistrations& own, Nanos now_mono) {
  wire::ControllerMessage message;
  encode(own, now_mono, *message.mutable_relays());
  return std::make_shared<const std::string>(message.SerializeAsString());
}

}  // namespace

std::optional<Refusal> RelayFeed::follow(const std::string& route, const wire::Follow& follow,
                                         Instant now) {
  if (follow.control_version() != wire::kControlVersion) {
    return Refusal{wire::Refused::BAD_VERSION, "another control version"};
  }
  const auto cluster = board_.cluster();
  const auto& members = cluster->members;
  const bool member = std::any_of(members.begin(), members.end(), [&](const ClusterMember& one) {
    return one.name == follow.controller() && one.session == follow.session() &&
           one.name != cluster->name;
  });
  if (!member) {
    return Refusal{wire::Refused::NOT_AUTHORIZED, "no other controller has this name and session"};
  }
  if (!followers_.contains(follow.controller())) {
    if (followers_.size() >= kMaxFollowers) {
      return Refusal{wire::Refused::UNKNOWN, "too many controllers follow"};
    }
    encodeGathered();  // it is told all of that when it begins
  }
  Follower& follower = followers_[follow.controller()];
  const bool again = follower.route == route && follower.attempt == follow.attempt();
  follower.heard_mono = now.mono;
  if (!again || follower.overrun) {
    // Anybody may claim to be a member, and to tell everything is dear.
    if (follower.started_mono != 0 && now.mono - follower.started_mono < kStartPause) return {};
    encodeGathered();
    follower = {route, follow.attempt(), now.mono, now.mono, false, {}, 0, max_waiting_};
    tellAll(follower);
    log::info("controller {} follows", follow.controller());
  } else if (const auto own = board_.collectorRoster().own();
             !own.empty() || follower.waiting.empty()) {
    give(follower, nothingNew(own, now.mono));
  }
  flushAll(now);
  return std::nullopt;
}

const std::string* RelayFeed::follower(const std::string& route) const {
  const auto found = std::find_if(followers_.begin(), followers_.end(),
                                  [&](const auto& entry) { return entry.second.route == route; });
  return found == followers_.end() ? nullptr : &found->first;
}

void RelayFeed::tell(const std::string& follower, const wire::ControllerMessage& message,
                     Instant now) {
  const auto found = followers_.find(follower);
  if (found == followers_.end()) return;
  give(found->second, std::make_shared<const std::string>(message.SerializeAsString()));
  flushAll(now);
}

void RelayFeed::tellAll(Follower& follower) {
  Pieces pieces;
  for (const auto& [id, agent] : registry_.agents()) {
    if (!agent->info.isHere()) continue;
    wire::Relay& relay = pieces.add(agent->info.host);
    encodeAgent(*agent, *relay.mutable_agent());
    pieces.added(relay);
  }
  for (const auto& known : board_.paths().all()) {
    const Agent* agent = registry_.owner(known->path.source);
    if (agent == nullptr || !agent->info.isHere()) continue;
    wire::Relay& relay = pieces.add(agent->info.host);
    wire::encode(known->path, *relay.mutable_paths()->add_paths());
    pieces.added(relay);
  }
  for (auto& piece : pieces.take()) {
    follower.max_waiting += piece->size();
    give(follower, std::move(piece));
  }
  giveCovers(follower);
}

void RelayFeed::registered(Agent& agent, bool fresh, Instant now) {
  agent.told_alive = agent.info.alive;
  if (wire::Relay* relay = add(agent.info.host, now)) {
    encodeAgent(agent, *relay->mutable_agent());
    relay->mutable_agent()->set_fresh(fresh);
    gathered_bytes_ += relay->ByteSizeLong();
  }
}

void RelayFeed::heartbeat(const Agent& agent, const wire::Heartbeat& heartbeat, Instant now) {
  if (wire::Relay* relay = add(agent.info.host, now)) {
    *relay->mutable_heartbeat() = heartbeat;
    gathered_bytes_ += relay->ByteSizeLong();
  }
}

void RelayFeed::batch(const Agent& agent, wire::RelayedBatch&& shown, Instant now) {
  if (wire::Relay* relay = add(agent.info.host, now)) {
    *relay->mutable_batch() = std::move(shown);
    gathered_bytes_ += relay->ByteSizeLong();
  }
}

void RelayFeed::paths(const Agent& agent, const wire::PathReport& report, Instant now) {
  if (wire::Relay* relay = add(agent.info.host, now)) {
    *relay->mutable_paths() = report;
    gathered_bytes_ += relay->ByteSizeLong();
  }
}

void RelayFeed::covers(const std::vector<CoverPairs>& covers, Instant now) {
  covers_.clear();
  for (const CoverPairs& cover : covers) {
    wire::ControllerMessage message;
    encode(cover, *message.mutable_relays()->mutable_cover());
    covers_.push_back(std::make_shared<const std::string>(message.SerializeAsString()));
  }
  if (covers_.empty() || followers_.empty()) return;
  for (auto& [name, follower] : followers_) giveCovers(follower);
  flushAll(now);
}

void RelayFeed::giveCovers(Follower& follower) {
  for (const Piece& cover : covers_) give(follower, cover);
}

void RelayFeed::moved(const Agent& agent, const std::string& controller, Instant now) {
  if (wire::Relay* relay = add(agent.info.host, now)) {
    relay->mutable_moved()->set_controller(controller);
    gathered_bytes_ += relay->ByteSizeLong();
  }
}

void RelayFeed::presenceChanged(const std::vector<IpAddress>& addresses, Instant now) {
  for (const IpAddress& address : addresses) {
    const Agent* owner = registry_.owner(address);
    if (owner == nullptr || !owner->info.isHere() || owner->told_alive == owner->info.alive)
      continue;
    Agent& agent = *registry_.find(owner->info.host);
    if (agent.info.alive) {
      registered(agent, false, now);
      continue;
    }
    agent.told_alive = false;
    if (wire::Relay* relay = add(agent.info.host, now)) {
      relay->mutable_gone()->set_last_seen_utc_ns(agent.info.last_seen_utc);
    }
  }
}

// Returns nullptr if nobody follows.
wire::Relay* RelayFeed::add(const std::string& host, Instant now) {
  if (followers_.empty()) return nullptr;
  if (gathered_bytes_ > kPieceBytes) {
    encodeGathered();
    flushAll(now);
  }
  wire::Relay* relay = gathered_.mutable_relays()->add_relays();
  relay->set_host(host);
  gathered_bytes_ += host.size();
  gathered_mono_ = std::min(gathered_mono_, now.mono + kGather);
  return relay;
}

void RelayFeed::encodeGathered() {
  gathered_mono_ = kNever;
  if (gathered_bytes_ == 0) return;
  const auto piece = std::make_shared<const std::string>(gathered_.SerializeAsString());
  gathered_.Clear();
  gathered_bytes_ = 0;
  for (auto& [name, follower] : followers_) give(follower, piece);
}

void RelayFeed::give(Follower& follower, Piece piece) {
  if (follower.overrun) return;
  follower.waiting_bytes += piece->size();
  follower.waiting.push_back(std::move(piece));
  if (follower.waiting_bytes <= follower.max_waiting) return;
  ++restarts_;
  follower.overrun = true;
  follower.waiting.clear();
  follower.waiting_bytes = 0;
}

void RelayFeed::flush(Follower& follower) {
  while (!follower.waiting.empty() && socket_.send(follower.route, follower.waiting.front())) {
    follower.waiting_bytes -= follower.waiting.front()->size();
    follower.waiting.pop_front();
  }
}

void RelayFeed::flushAll(Instant now) {
  retry_mono_ = kNever;
  for (auto& [name, follower] : followers_) {
    flush(follower);
    if (!follower.waiting.empty()) retry_mono_ = now.mono + kRetry;
  }
}

void RelayFeed::runDue(Instant now) {
  // While there is much to do, a Follow waits behind the messages of thousands of agents.
  std::erase_if(followers_, [&](const auto& entry) {
    return drained_mono_ - entry.second.heard_mono > kForget;
  });
  if (now.mono < nextDue()) return;
  if (now.mono >= gathered_mono_) encodeGathered();
  flushAll(now);
}

}  // namespace pingloom::controller
