#include "controller/relay/other_controllers.h"

#include <sys/epoll.h>

#include <cerrno>
#include <iterator>

#include "common/address.h"
#include "common/log.h"
#include "controller/model/collector_codec.h"
#include "controller/model/cover_codec.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

Result<std::unique_ptr<OtherControllers>> OtherControllers::make(
    Board& board, RelayIntake& intake, const std::optional<net::CurvePair>& own) {
  UniqueFd readable(epoll_create1(EPOLL_CLOEXEC));
  if (!readable.valid()) return makeErrnoError("cluster", "cannot make an epoll descriptor", errno);
  return std::unique_ptr<OtherControllers>(
      new OtherControllers(board, intake, own, std::move(readable)));
}

std::vector<std::string> OtherControllers::heard() const {
  std::vector<std::string> names;
  for (const auto& [name, link] : links_) {
    if (link.heard) names.push_back(name);
  }
  return names;
}

Homes::Service OtherControllers::serviceOf(const ClusterMember& other) const {
  const auto found = links_.find(other.name);
  if (found == links_.end()) return Homes::Service::kUnreachable;
  const Link& link = found->second;
  if (link.told_session == other.session) return Homes::Service::kServes;
  const bool answers = link.connected && link.refusal.empty();
  return answers ? Homes::Service::kStarting : Homes::Service::kUnreachable;
}

bool OtherControllers::order(const std::string& name, const wire::AgentMessage& burst) {
  const auto link = links_.find(name);
  if (link == links_.end() || !link->second.connected || !link->second.takes_bursts) return false;
  more_waits_ = true;  // sending may have consumed the descriptor's event
  return link->second.socket.send({}, burst.SerializeAsString());
}

void OtherControllers::run(Instant now) {
  if (now.mono - std::exchange(ran_mono_, now.mono) > kLapse) {
    lapsed_mono_ = now.mono;
    for (auto& [name, link] : links_) link.heard_mono = link.heard_since_mono = now.mono;
  }
  receiveAll(now);
  followNew(now);
  if (now.mono < follow_due_mono_) return;
  follow_due_mono_ = now.mono + kFollow;
  refresh(now);
  for (auto& [name, link] : links_) follow(name, link, now);
  intake_.expire(
      [&](const std::string& name) {
        const auto link = links_.find(name);
        if (link == links_.end()) return now.mono - lapsed_mono_ < RelayIntake::kLinger;
        return !link->second.heard ||
               now.mono - link->second.heard_since_mono < RelayIntake::kLinger;
      },
      now);
  // Opening and asking may have consumed the descriptors' events.
  receiveAll(now);
  followConnected(now);
}

// What agents say at another controller before this one follows it is missed until their next
// windows, so one that has started is connected to as soon as the members have been read, and
// followed as soon as the connection stands.
void OtherControllers::followNew(Instant now) {
  const auto cluster = board_.cluster();
  if (std::exchange(refreshed_, cluster) != cluster) refresh(now);
  // Without a session it could not ask those that it is connected to.
  if (std::exchange(session_, cluster->session) != cluster->session) follow_due_mono_ = now.mono;
  followConnected(now);
}

void OtherControllers::followConnected(Instant now) {
  for (auto& [name, link] : links_) {
    if (!link.connected && link.socket.connected()) follow(name, link, now);
  }
}

void OtherControllers::receiveAll(Instant now) {
  more_waits_ = false;
  for (auto& [name, link] : links_) {
    const Nanos share = kMaxTurn / static_cast<Nanos>(links_.size());
    receive(name, link, monotonicNow() + share, now);
  }
}

// A controller that has another session may have restarted. One that has lost its session, because
// it alone cannot reach the database, may still tell what its agents say.
void OtherControllers::refresh(Instant now) {
  const auto cluster = board_.cluster();
  std::map<std::string, const ClusterMember*> members;
  for (const ClusterMember& member : cluster->members) {
    if (member.name != cluster->name && members.size() < kMaxOthers) members[member.name] = &member;
  }
  for (auto at = links_.begin(); at != links_.end();) {
    auto& [name, link] = *at;
    const bool tells = link.heard && now.mono - link.heard_mono <= kSilence;
    const bool stays = members.contains(name) || (tells && links_.size() <= kMaxOthers);
    if (!stays) lose(name, link);
    at = stays ? std::next(at) : links_.erase(at);
  }
  for (const auto& [name, member] : members) {
    Link& link = links_[name];
    if (link.session == member->session && link.address == member->address) continue;
    link.session = member->session;
    link.address = member->address;
    open(name, link, now);
  }
}

void OtherControllers::open(const std::string& name, Link& link, Instant now) {
  net::DealerOptions options;
  if (own_) options.curve = net::DealerOptions::Curve{*own_, own_->public_key};
  link.connected = false;
  link.takes_bursts = false;
  link.heard_mono = now.mono;
  if (auto status = link.socket.open(context_, link.address, options); !status) {
    log::error("{}; what the agents of controller {} report is not shown here",
               status.error().text(), name);
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  // The descriptor leaves the set when the socket is closed. Without it, messages are taken each
  // second.
  (void)epoll_ctl(readable_.get(), EPOLL_CTL_ADD, link.socket.descriptor(), &event);
}

void OtherControllers::follow(const std::string& name, Link& link, Instant now) {
  const auto cluster = board_.cluster();
  const bool was_connected = std::exchange(link.connected, link.socket.connected());
  if (now.mono - link.heard_mono > kSilence) {
    if (!link.heard && !std::exchange(link.warned, true)) {
      log::warning(
          "controller {} at {} does not tell what its agents report, so it is not shown here: it "
          "cannot be reached, or has another key (docs/scale.md)",
          name, link.address);
    }
    lose(name, link);
    open(name, link, now);
    return;
  }
  if (!link.connected || cluster->session == 0) return;
  if (!was_connected || (link.missed && now.mono - link.asked_mono >= kAskAgain)) {
    ++link.attempt;
    link.missed = false;
    link.takes_bursts = false;  // until it says so again, because it may be another process
    link.asked_mono = now.mono;
  }
  wire::AgentMessage message;
  wire::Follow& follow = *message.mutable_follow();
  follow.set_control_version(wire::kControlVersion);
  follow.set_controller(cluster->name);
  follow.set_session(cluster->session);
  follow.set_attempt(link.attempt);
  (void)link.socket.send({}, message.SerializeAsString());
}

void OtherControllers::receive(const std::string& name, Link& link, Nanos until_mono, Instant now) {
  while (monotonicNow() < until_mono) {
    switch (link.socket.receive(frame_)) {
      case net::ZmqDealer::Received::kNothing:
        return;
      case net::ZmqDealer::Received::kBad:
        link.missed = true;
        break;
      case net::ZmqDealer::Received::kMessage:
        takeFrame(name, link, now);
        break;
    }
  }
  more_waits_ = true;
}

void OtherControllers::takeFrame(const std::string& name, Link& link, Instant now) {
  if (!message_.ParseFromString(frame_)) {
    link.missed = true;
    return;
  }
  if (message_.has_refused()) {
    // One that has just been connected to may not have read yet that this controller is a member.
    if (!link.heard && now.mono - link.heard_mono < kSettle) {
      follow_due_mono_ = std::min(follow_due_mono_, now.mono + kAskRefused);
      return;
    }
    const std::string& text = message_.refused().text();
    if (std::exchange(link.refusal, text) != text) {
      log::warning("controller {} does not tell what its agents report: {}", name, text);
    }
    return;
  }
  if (message_.has_burst_report()) return intake_.takeBurst(name, message_.burst_report(), now);
  if (!message_.has_relays()) return;
  link.heard_mono = now.mono;
  link.refusal.clear();
  if (message_.relays().from_start()) link.takes_bursts = message_.relays().takes_bursts();
  if (!intake_.take(name, message_.relays(), now)) link.missed = true;
  takeCollectors(name, link, now);
  if (auto cover = coverOf(message_.relays())) covers_.push_back(std::move(*cover));
  if (!message_.relays().complete()) return;
  link.told_session = link.session;
  if (std::exchange(link.heard, true)) return;
  link.warned = false;
  link.heard_since_mono = now.mono;
  log::info("controller {} tells what its agents report", name);
}

// Without keys anybody on the way may have written the message, so this controller's token for
// collectors does not go to an address in it.
void OtherControllers::takeCollectors(const std::string& name, const Link& link, Instant now) {
  auto list = collectorsOf(message_.relays(), now.mono);
  if (list.empty()) return;
  for (CollectorRegistration& each : list) each.trusted = each.trusted && own_.has_value();
  const auto address = SocketAddress::parse(link.address);
  const bool same_machine =
      address ? address->address.isLoopback() : link.address.rfind("localhost:", 0) == 0;
  board_.collectorRoster().tell(name, {std::move(list), same_machine});
}

void OtherControllers::lose(const std::string& name, Link& link) {
  if (!std::exchange(link.heard, false)) return;
  log::warning(
      "nothing is heard from controller {} any more; what its agents report is not shown here",
      name);
}

}  // namespace pingloom::controller
