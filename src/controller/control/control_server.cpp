#include "controller/control/control_server.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/log.h"
#include "controller/control/agent_status.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kNudgeInterval = 2 * kSecond;

}  // namespace

void ControlServer::setPlan(std::shared_ptr<const plan::Plan> plan, Instant now) {
  plans_.setCurrent(std::move(plan));
  if (push_due_mono_ == kNever) push_due_mono_ = std::max(now.mono, pushed_mono_ + kCoalesce);
  pushDue(now);
}

void ControlServer::pushDue(Instant now) {
  if (now.mono < push_due_mono_) return;
  push_due_mono_ = kNever;
  pushed_mono_ = now.mono;
  // An agent gets the endpoints of its new targets first. It would count pings to a target without
  // one as lost.
  endpoints_.setPlan(plans_.current(), now);
  for (const auto& [id, agent] : registry_.agents()) {
    if (!agent->info.alive || agent->route.empty()) continue;
    endpoints_.push(*agent);
    push(*agent, now);
  }
}

ControlServer::Waiting ControlServer::receive(Instant now) {
  const Nanos started = monotonicNow();
  intake_.noteClock(now);
  for (std::size_t i = 0; i < kMessagesAtOnce; ++i) {
    if (ledger_.busy()) return Waiting::kLedger;
    auto message = socket_.receive();
    if (!message) {
      if (feed_ != nullptr) feed_->drained(now);
      return Waiting::kNothing;
    }
    const Nanos passed = monotonicNow() - started;
    take(std::move(*message), {now.mono + passed, now.utc + passed});
    if (passed > kMaxTurn) break;
  }
  return Waiting::kMessages;
}

void ControlServer::take(net::ZmqRouter::Message message, Instant now) {
  const std::string& route = message.route;
  if (message.frame == nullptr) {
    return refuse(route, wire::Refused::BAD_MESSAGE, "a message is one frame");
  }
  const std::string_view bytes = message.frame->bytes();
  std::optional<net::CurveKey> key;
  if (access_ != nullptr) {
    key = message.frame->key();
    if (const auto denial = access_->maySpeak(key)) return deny(message, *denial, now);
    if (key && access_->joins(*key)) return takeJoin(message, *key, now);
    // Controllers know each other by the key that they share.
    if (key && access_->isOwn(*key)) {
      if (parse(bytes) && takeFromController(route, now)) return;
      return refuse(route, wire::Refused::BAD_MESSAGE, "only controllers have this key");
    }
  }
  Agent* agent = registry_.heard(route, now, key ? key->text() : "");
  if (batchKind(bytes) != BatchKind::kNone) {
    if (agent == nullptr) return refuse(route, wire::Refused::NOT_REGISTERED, "register first");
    return takeBatch(*agent, std::move(message.frame), now);
  }
  if (!parse(bytes)) {
    return refuse(route, wire::Refused::BAD_MESSAGE, "the message is malformed");
  }
  if (access_ == nullptr && takeFromController(route, now)) return;
  if (message_.has_registration()) {
    return takeRegister(message, message_.registration(), agent, now);
  }
  if (agent == nullptr) return refuse(route, wire::Refused::NOT_REGISTERED, "register first");
  if (message_.has_heartbeat()) return takeHeartbeat(*agent, message_.heartbeat(), now);
  if (message_.has_goodbye()) {
    log::info("agent {} says goodbye", agent->info.host);
    registry_.goodbye(*agent);
    hosts_changed_ = true;
    return;
  }
  if (message_.has_burst()) return takeBurstReport(*agent, now);
  if (message_.has_paths()) {
    const auto fault = paths_.take(*agent, message_.paths(), now.utc);
    if (feed_ != nullptr) feed_->paths(*agent, message_.paths(), now);
    if (fault) refuse(route, wire::Refused::BAD_MESSAGE, *fault);
    return;
  }
  refuse(route, wire::Refused::BAD_MESSAGE, "the message is empty or of an unknown kind");
}

void ControlServer::deny(const net::ZmqRouter::Message& message, const Access::Denial& denial,
                         Instant now) {
  access_->deny(denial, message.frame->peer(), now.mono);
  refuse(message.route, wire::Refused::NOT_AUTHORIZED, denial.text);
}

bool ControlServer::parse(std::string_view bytes) {
  return bytes.size() <= kMaxOtherBytes &&
         message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool ControlServer::takeFromController(const std::string& route, Instant now) {
  if (message_.has_follow()) {
    takeFollow(route, now);
  } else if (message_.has_burst_order()) {
    takeBurstOrder(route, now);
  } else {
    return false;
  }
  return true;
}

void ControlServer::takeFollow(const std::string& route, Instant now) {
  const auto refused = feed_ == nullptr
                           ? Refusal{wire::Refused::NOT_AUTHORIZED, "this controller works alone"}
                           : feed_->follow(route, message_.follow(), now);
  if (refused) refuse(route, refused->reason, refused->text);
}

void ControlServer::takeBurstOrder(const std::string& route, Instant now) {
  const std::string* from = feed_ == nullptr ? nullptr : feed_->follower(route);
  if (from != nullptr) return burst_relay_.order(*from, message_.burst_order(), now);
  refuse(route, wire::Refused::NOT_AUTHORIZED, "only controllers that follow may order bursts");
}

void ControlServer::takeBurstReport(const Agent& agent, Instant now) {
  if (burst_relay_.report(agent, message_.burst(), now)) return;
  if (const auto taken = bursts_.report(agent, message_.burst(), now); !taken) {
    refuse(agent.route, wire::Refused::BAD_MESSAGE, taken.error().text());
  }
}

void ControlServer::takeJoin(const net::ZmqRouter::Message& message, const net::CurveKey& token,
                             Instant now) {
  const std::string_view bytes = message.frame->bytes();
  const std::string from(message.frame->peer());
  const bool parsed = bytes.size() <= kMaxJoinBytes &&
                      message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed && !message_.has_join()) {
    return deny(message, {net::PeerRefusal::kJoinOnly, "a join token is for joining only"}, now);
  }
  auto wants = parsed ? keys::readJoin(message_.join(), from)
                      : makeError("join", "the message is malformed");
  if (!wants) {
    return answerJoins({{message.route, from, {wire::JoinReply::MALFORMED, wants.error().reason}}},
                       now);
  }
  if (!desk_->take({message.route, token, std::move(*wants)})) {
    answerJoins({{message.route, from, {wire::JoinReply::BUSY, "many hosts join at once"}}}, now);
  }
}

void ControlServer::answerJoins(const std::vector<JoinDesk::Answer>& answers, Instant now) {
  for (const auto& [route, from, decision] : answers) {
    ++joins_[static_cast<std::size_t>(decision.outcome)];
    if (decision.outcome > wire::JoinReply::WAITING && decision.outcome != wire::JoinReply::BUSY) {
      access_->deny({net::PeerRefusal::kJoinRefused, decision.text}, from, now.mono);
    }
    wire::ControllerMessage reply;
    reply.mutable_joined()->set_outcome(decision.outcome);
    reply.mutable_joined()->set_text(decision.text);
    send(route, reply);
  }
}

void ControlServer::authorize(std::shared_ptr<const keys::AuthorizedKeys> list,
                              std::shared_ptr<const keys::JoinBook> joins, Instant now) {
  access_->set(std::move(list), std::move(joins), now.utc);
  for (const auto& [id, agent] : registry_.agents()) {
    if (agent->route.empty()) continue;
    if (const auto denial = access_->mayStay(agent->info)) {
      access_->deny(*denial, "agent " + agent->info.host, now.mono);
      refuse(agent->route, wire::Refused::NOT_AUTHORIZED, denial->text);
      registry_.goodbye(*agent);
      hosts_changed_ = true;
    } else {
      tellCollectors(*agent);
    }
  }
}

void ControlServer::tellCollectors(Agent& agent) {
  if (access_ == nullptr) return;
  const auto& collectors = access_->collectors();
  // If the connection is full, the keys are sent with the next heartbeat.
  if (agent.told_collectors == collectors || !socket_.send(agent.route, collectors)) return;
  agent.told_collectors = collectors;
}

void ControlServer::takeRegister(const net::ZmqRouter::Message& message,
                                 const wire::Register& request, Agent* before, Instant now) {
  const std::string& route = message.route;
  // Without keys the peer's claim is not authenticated.
  const auto key = access_ == nullptr ? std::nullopt : message.frame->key();
  if (access_ != nullptr) {
    const auto denial = access_->mayRegister(key, request, registry_.find(request.host()));
    if (denial && before != nullptr) registry_.goodbye(*before);
    if (denial) return deny(message, *denial, now);
  }
  // A malformed name is refused below.
  if (homes_ != nullptr && request.follows() && wire::isHostName(request.host())) {
    if (const auto home = homes_->elsewhere(request.host())) {
      // It may have registered here before, on this connection or on another one.
      Agent* known = registry_.find(request.host());
      const bool same = known != nullptr && known->info.isHere() &&
                        known->info.incarnation == request.incarnation() &&
                        known->info.public_key == (key ? key->text() : "");
      if (sendAway(route, request.host(), *home) && same) noteMove(*known, *home, now);
      return;
    }
  }
  const wire::BatchId committed = marks_.committedUpTo(request.host());
  std::optional<std::uint64_t> known;
  if (committed.incarnation != 0) known = committed.incarnation;
  const auto admitted = registry_.admit(request, route, known, now, key ? key->text() : "");
  hosts_changed_ = true;
  if (!admitted) {
    log::debug("refused agent {}: {}", request.host(), admitted.error().text);
    return refuse(route, admitted.error().reason, admitted.error().text);
  }
  Agent& agent = **admitted;
  endpoints_.registered(agent, request, now);
  log::info("agent {} registered with {} addresses and {} rdma endpoints", agent.info.host,
            agent.info.addresses.size(), agent.info.endpoints.size());
  wire::ControllerMessage reply;
  wire::Registered& registered = *reply.mutable_registered();
  registered.set_heartbeat_interval_ns(kHeartbeatInterval);
  registered.set_lease_ns(kLease);
  registered.set_acked_incarnation(committed.incarnation);
  registered.set_acked_sequence(committed.sequence);
  send(route, reply);
  agent.told_collectors = nullptr;
  tellCollectors(agent);
  endpoints_.push(agent);
  push(agent, now);
  if (feed_ != nullptr) feed_->registered(agent, true, now);
}

void ControlServer::takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now) {
  if (heartbeat.incarnation() != agent.info.incarnation) {
    return refuse(agent.route, wire::Refused::NOT_REGISTERED, "register the new incarnation");
  }
  for (const Refusal& refused : takeStatus(agent, heartbeat, counters_, now)) {
    refuse(agent.route, refused.reason, refused.text);
  }
  hosts_changed_ = true;
  if (feed_ != nullptr) feed_->heartbeat(agent, heartbeat, now);
  tellCollectors(agent);
  wire::ControllerMessage reply;
  reply.mutable_heartbeat_reply()->set_agent_mono_ns(heartbeat.agent_mono_ns());
  reply.mutable_heartbeat_reply()->set_controller_utc_ns(utcNow());
  send(agent.route, reply);
  endpoints_.push(agent);
  push(agent, now);
  nudge(agent, now);
}

// An agent whose batches could not be committed has to resend them from the first; it does so when
// it registers again.
void ControlServer::nudge(Agent& agent, Instant now) {
  if (!agent.suspended || now.mono - agent.nudged_mono < kNudgeInterval || !ledger_.ready()) return;
  agent.nudged_mono = now.mono;
  wire::ControllerMessage message;
  message.mutable_refused()->set_reason(wire::Refused::NOT_REGISTERED);
  message.mutable_refused()->set_text("register again: batches have to be sent again");
  send(agent.route, message);
}

void ControlServer::takeBatch(Agent& agent, std::unique_ptr<net::ZmqFrame> frame, Instant now) {
  const std::shared_ptr<net::ZmqFrame> owner = std::move(frame);
  const bool followed = feed_ != nullptr && feed_->followed();
  wire::RelayedBatch told;
  const auto verdict = intake_.take(agent, owner->bytes(), owner, now, followed ? &told : nullptr);
  if (told.reports_size() > 0) feed_->batch(agent, std::move(told), now);
  if (verdict.acknowledge) acknowledge(agent.route, *verdict.acknowledge);
  if (verdict.refused > 0) {
    refuse(agent.route, wire::Refused::BAD_MESSAGE, verdict.first_fault, verdict.refused);
  }
}

void ControlServer::acknowledgeCommitted() {
  for (const BatchIntake::Acknowledgement& committed : intake_.takeCommitted()) {
    const Agent* agent = registry_.find(committed.host);
    if (agent != nullptr && !agent->route.empty()) acknowledge(agent->route, committed.up_to);
  }
}

void ControlServer::acknowledge(const std::string& route, wire::BatchId id) {
  wire::ControllerMessage message;
  message.mutable_ack()->set_incarnation(id.incarnation);
  message.mutable_ack()->set_sequence(id.sequence);
  send(route, message);
}

void ControlServer::runDue(Instant now) {
  endpoints_.runDue(now);
  bursts_.runDue(now);
  if (feed_ != nullptr) feed_->runDue(now);
  pushDue(now);
  if (now.mono >= move_due_mono_) moveAgents(now);
}

// Sends agents to their homes, which have changed with the controllers.
void ControlServer::moveAgents(Instant now) {
  move_due_mono_ = now.mono + kMovePause;
  if (homes_->refresh(now.mono)) all_at_home_ = false;
  if (all_at_home_) return;
  std::vector<std::pair<Agent*, Homes::Home>> moves;
  for (const auto& [id, agent] : registry_.agents()) {
    if (moves.size() == kMovesAtOnce) break;
    if (!agent->info.alive || !agent->follows || agent->route.empty()) continue;
    if (auto home = homes_->elsewhere(agent->info.host)) {
      moves.emplace_back(agent.get(), std::move(*home));
    }
  }
  all_at_home_ = moves.empty();
  for (const auto& [agent, home] : moves) {
    if (sendAway(agent->route, agent->info.host, home)) noteMove(*agent, home, now);
  }
}

bool ControlServer::sendAway(const std::string& route, const std::string& host,
                             const Homes::Home& home) {
  wire::ControllerMessage message;
  message.mutable_redirect()->set_controller(home.address);
  if (!send(route, message)) return false;
  ++sent_away_;
  hosts_changed_ = true;
  log::debug("agent {} is sent to controller {}", host, home.name);
  return true;
}

// The others may hear of it from the agent's new controller first, or later.
void ControlServer::noteMove(Agent& agent, const Homes::Home& home, Instant now) {
  registry_.movedTo(agent, home.name, now);
  if (feed_ != nullptr) feed_->moved(agent, home.name, now);
}

void ControlServer::push(Agent& agent, Instant now) {
  const std::uint64_t current = plans_.currentHash();
  if (current == 0 || push_due_mono_ != kNever) return;
  // A heartbeat that names the current plan may be older than a push of another one.
  const bool unanswered = agent.pushed_hash != 0 && agent.pushed_hash != current;
  if (agent.plan_hash == current && !unanswered) return;
  if (agent.pushed_hash == current && now.mono - agent.pushed_mono < kPushAgain) return;
  // A connection loses no messages, so the agent holds what was pushed on it before, even if its
  // heartbeat does not say so yet.
  const bool again = agent.pushed_hash == current;
  const std::uint64_t held = agent.pushed_hash == 0 || again ? agent.plan_hash : agent.pushed_hash;
  if (!socket_.send(agent.route, plans_.updateFrom(held))) return;
  agent.pushed_hash = current;
  agent.pushed_mono = now.mono;
}

void ControlServer::refuse(const std::string& route, wire::Refused::Reason reason,
                           std::string_view text, std::uint64_t times) {
  refused_[static_cast<std::size_t>(reason)] += times;
  wire::ControllerMessage message;
  message.mutable_refused()->set_reason(reason);
  message.mutable_refused()->set_text(std::string(text));
  send(route, message);
}

std::uint64_t ControlServer::messagesRefused() const {
  return std::accumulate(refused_.begin(), refused_.end(), std::uint64_t{0});
}

bool ControlServer::send(const std::string& route, const wire::ControllerMessage& message) {
  buffer_.clear();
  message.AppendToString(&buffer_);
  return socket_.send(route, std::string_view(buffer_));
}

}  // namespace pingloom::controller
