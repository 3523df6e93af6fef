#include "controller/control/agent_status.h"

#include <optional>
#include <utility>

namespace pingloom::controller {

std::vector<Refusal> takeStatus(Agent& agent, const wire::Heartbeat& heartbeat,
                                CounterLog& counters, Instant now) {
  const wire::AgentStatus& status = heartbeat.status();
  AgentInfo& info = agent.info;
  info.spooled_batches = status.spooled_batches();
  info.spooled_bytes = status.spooled_bytes();
  info.spool_dropped = status.spool_dropped();
  info.pings_sent = status.pings_sent();
  info.pings_skipped = status.pings_skipped();
  info.stalls = status.stalls();
  info.refused_packets = status.refused_packets();
  std::vector<Refusal> refused;
  const auto note = [&](std::optional<Refusal> refusal) {
    if (refusal) refused.push_back(std::move(*refusal));
  };
  if (status.has_page_owners()) note(Registry::takePageOwners(agent, status.page_owners()));
  note(counters.take(agent, status, now));
  agent.plan_hash = heartbeat.plan_hash();
  return refused;
}

}  // namespace pingloom::controller
