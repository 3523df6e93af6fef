#include "controller/relay/relay_intake.h"

#include <algorithm>

#include "controller/control/agent_status.h"

namespace pingloom::controller {

bool RelayIntake::take(const std::string& from, const wire::Relays& told, Instant now) {
  if (told.from_start()) named_[from].clear();
  bool known = true;
  for (const wire::Relay& relay : told.relays()) known = take(from, relay, now) && known;
  if (told.complete()) complete(from, now);
  return known;
}

bool RelayIntake::take(const std::string& from, const wire::Relay& relay, Instant now) {
  if (relay.has_agent()) {
    takeAgent(from, relay, now);
    return true;
  }
  Agent* agent = registry_.find(relay.host());
  if (agent == nullptr || agent->info.controller != from) {
    const bool here = agent != nullptr && agent->info.controller.empty() && agent->info.alive;
    return here || relay.has_gone();
  }
  if (relay.has_heartbeat()) {
    takeHeartbeat(*agent, relay.heartbeat(), now);
  } else if (relay.has_batch()) {
    batches_.takeRelayed(*agent, relay.batch(), now);
  } else if (relay.has_paths()) {
    (void)paths_.take(*agent, relay.paths(), now.utc);
  } else if (relay.has_gone()) {
    takeGone(*agent, relay.gone(), now);
  }
  return true;
}

void RelayIntake::takeAgent(const std::string& from, const wire::Relay& relay, Instant now) {
  if (const auto named = named_.find(from); named != named_.end())
    named->second.insert(relay.host());
  if (relay.agent().registration().host() != relay.host()) return;
  Agent* agent = registry_.takeRelayed(relay.agent(), from, now);
  if (agent == nullptr) return;
  leaving_.erase(relay.host());
  takeHeartbeat(*agent, relay.agent().heartbeat(), now);
  agent->info.last_seen_utc = relay.agent().last_seen_utc_ns();
}

void RelayIntake::takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now) {
  const wire::AgentStatus& status = heartbeat.status();
  copyStatus(status, agent.info);
  // The other controller has refused what is malformed.
  if (status.has_page_owners()) (void)Registry::takePageOwners(agent, status.page_owners());
  (void)counters_.take(agent, status, now);
  agent.plan_hash = heartbeat.plan_hash();
  agent.heard_mono = now.mono;
  agent.info.last_seen_utc = now.utc;
  hosts_changed_ = true;
}

void RelayIntake::takeGone(Agent& agent, const wire::RelayedGone& gone, Instant now) {
  if (gone.moved()) return leave(agent.info.controller, agent.info.host, now);
  agent.info.last_seen_utc = gone.last_seen_utc_ns();
  registry_.goodbye(agent);
  hosts_changed_ = true;
}

// An agent that was not named has left while nothing was heard.
void RelayIntake::complete(const std::string& from, Instant now) {
  const auto named = named_.find(from);
  if (named == named_.end()) return;
  for (const auto& [id, agent] : registry_.agents()) {
    if (agent->info.controller == from && !named->second.contains(agent->info.host)) {
      leave(from, agent->info.host, now);
    }
  }
  named_.erase(named);
}

void RelayIntake::lost(const std::string& from, Instant now) {
  named_.erase(from);
  for (const auto& [id, agent] : registry_.agents()) {
    if (agent->info.controller == from) leave(from, agent->info.host, now);
  }
}

void RelayIntake::leave(const std::string& from, const std::string& host, Instant now) {
  if (!leaving_.try_emplace(host, Leaving{from, now.mono + kLinger}).second) return;
  due_mono_ = std::min(due_mono_, now.mono + kLinger);
}

void RelayIntake::runDue(Nanos now_mono) {
  if (now_mono < due_mono_) return;
  due_mono_ = kNever;
  std::erase_if(leaving_, [&](const auto& entry) {
    const auto& [host, leaving] = entry;
    if (leaving.due_mono > now_mono) {
      due_mono_ = std::min(due_mono_, leaving.due_mono);
      return false;
    }
    const Agent* agent = registry_.find(host);
    if (agent != nullptr && agent->info.controller == leaving.from) {
      registry_.forgetRelayed(host);
      hosts_changed_ = true;
    }
    return true;
  });
}

}  // namespace pingloom::controller
