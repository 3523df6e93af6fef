#include "controller/relay/relay_intake.h"

#include "common/log.h"
#include "common/text.h"
#include "controller/control/agent_status.h"

namespace pingloom::controller {

bool RelayIntake::take(const std::string& from, const wire::Relays& told, Instant now) {
  if (told.from_start()) refused_.erase(from);
  bool known = true;
  for (const wire::Relay& relay : told.relays()) known = take(from, relay, now) && known;
  return known;
}

bool RelayIntake::take(const std::string& from, const wire::Relay& relay, Instant now) {
  if (relay.has_agent()) {
    takeAgent(from, relay, now);
    return true;
  }
  Agent* agent = registry_.find(relay.host());
  if (agent == nullptr || agent->info.controller != from) {
    return relay.has_gone() || relay.has_moved() || knowsBetter(from, relay.host(), now);
  }
  if (relay.has_heartbeat()) {
    registry_.heardRelayed(*agent, now);
    takeHeartbeat(*agent, relay.heartbeat(), now);
  } else if (relay.has_batch()) {
    takeBatch(from, *agent, relay.batch(), now);
  } else if (relay.has_paths()) {
    (void)paths_.take(*agent, relay.paths(), now.utc);
  } else if (relay.has_gone()) {
    agent->info.last_seen_utc = relay.gone().last_seen_utc_ns();
    registry_.goodbye(*agent);
    hosts_changed_ = true;
  } else if (relay.has_moved()) {
    takeMove(*agent, relay.moved().controller(), now);
  }
  return true;
}

// What its new controller tells holds from now on, although its former one has told it lately. This
// one need not have read yet that the new one is a member. If it has been sent here, it will
// register here.
void RelayIntake::takeMove(Agent& agent, const std::string& controller, Instant now) {
  if (controller.empty() || controller.size() > kMaxNameBytes || !isOneWord(controller)) return;
  if (controller == board_.cluster()->name) return;
  registry_.movedTo(agent, controller, now);
  hosts_changed_ = true;
}

// Whether it is right to ignore what is told about this agent. One that has just moved may be told
// by its former controller for a moment.
bool RelayIntake::knowsBetter(const std::string& from, const std::string& host, Instant now) const {
  const Agent* agent = registry_.find(host);
  const bool alive = agent != nullptr && agent->info.alive;
  const Nanos silent = agent == nullptr ? 0 : now.mono - agent->heard_mono;
  if (alive && silent < (agent->info.isHere() ? 2 * kHeartbeatInterval : kLease)) {
    return true;
  }
  const auto names = refused_.find(from);
  if (names == refused_.end()) return false;
  const auto since = names->second.find(host);
  return since != names->second.end() && now.mono - since->second < kRetryRefused;
}

void RelayIntake::takeAgent(const std::string& from, const wire::Relay& relay, Instant now) {
  const bool named = relay.agent().registration().host() == relay.host();
  Agent* agent = named ? registry_.takeRelayed(relay.agent(), from, now) : nullptr;
  if (agent != nullptr) {
    takeHeartbeat(*agent, relay.agent().heartbeat(), now);
    return;
  }
  if (!relay.agent().alive() || knowsBetter(from, relay.host(), now)) return;
  refused_[from][relay.host()] = now.mono;
  log::warning("agent {} of controller {} is not taken: another agent has its addresses",
               relay.host(), from);
}

// The other controller has checked what its agent said, so a fault here is its own.
void RelayIntake::takeBatch(const std::string& from, const Agent& agent,
                            const wire::RelayedBatch& batch, Instant now) {
  const std::string fault = batches_.takeRelayed(agent, batch, now);
  if (!fault.empty()) warn(from, agent.info.host, fault, now);
}

void RelayIntake::takeBurst(const std::string& from, const wire::RelayedBurstReport& told,
                            Instant now) {
  const Agent* agent = registry_.find(told.host());
  if (agent == nullptr || agent->info.controller != from) return;
  const auto taken = bursts_.report(*agent, told.report(), now);
  if (!taken) warn(from, agent->info.host, taken.error().text(), now);
}

void RelayIntake::warn(const std::string& from, const std::string& host, const std::string& fault,
                       Instant now) {
  const auto [warned, is_first] = warned_mono_.try_emplace(from, now.mono);
  if (!is_first && now.mono - warned->second < kWarnPause) return;
  warned->second = now.mono;
  log::warning("what controller {} tells of agent {} is not shown: {}", from, host, fault);
}

// The other controller has refused what is malformed.
void RelayIntake::takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now) {
  (void)takeStatus(agent, heartbeat, counters_, now);
  hosts_changed_ = true;
}

void RelayIntake::expire(const std::function<bool(const std::string&)>& unheard, Instant now) {
  for (const auto& [id, agent] : registry_.agents()) {
    const AgentInfo& info = agent->info;
    if (info.isHere() || !info.alive || now.mono - agent->heard_mono < kLinger) continue;
    if (!agent->unconfirmed && unheard(info.controller)) continue;
    log::warning("agent {} of controller {} has not been told for 20 s: it counts as gone",
                 info.host, info.controller);
    registry_.endRelayed(*agent);
    hosts_changed_ = true;
  }
}

}  // namespace pingloom::controller
