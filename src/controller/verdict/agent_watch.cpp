#include "controller/verdict/agent_watch.h"

#include <fmt/format.h>

#include <utility>

namespace pingloom::controller {
namespace {

Finding agentFinding(const Places& places, const std::string& host, std::string sentence) {
  Finding made;
  made.culprit = {CulpritKind::kAgent, host};
  made.entity = entityOf(made.culprit);
  made.severity = Severity::kDown;
  made.figure = Figure::kLoss;
  made.sentence = std::move(sentence);
  made.labels = labelsOfHost(places, host);
  return made;
}

// The pairs with a host whose agent is gone are not judged, so nothing else is said of them.
std::string goneText(const std::string& host, Nanos heard_utc) {
  return fmt::format(
      "{}'s agent is gone: it was last heard at {}; the agent has ended, or the "
      "host is down or cut off",
      host, formatUtc(heard_utc / kSecond * kSecond));
}

std::string manyText(const std::vector<std::string>& hosts, std::size_t of) {
  std::string names;
  for (std::size_t i = 0; i < hosts.size() && i < 3; ++i) names += (i == 0 ? "" : ", ") + hosts[i];
  return fmt::format(
      "{} of {} agents are gone, such as {}; if none of them ended, the "
      "controller's own network is at fault",
      hosts.size(), of, names);
}

}  // namespace

bool AgentWatch::flaps(const std::string& host, const Agent& agent, Nanos now_utc) {
  Known& known = known_[host];
  if (std::exchange(known.incarnation, agent.incarnation) != agent.incarnation) {
    known.restarts_utc.push_back(now_utc);
    if (known.restarts_utc.size() > kRestarts + 1) known.restarts_utc.pop_front();
  }
  // The first incarnation is no restart, and is the oldest entry for as long as it counts.
  while (!known.restarts_utc.empty() && known.restarts_utc.front() + kFlapping <= now_utc) {
    known.restarts_utc.pop_front();
  }
  return known.restarts_utc.size() > kRestarts;
}

std::vector<Finding> AgentWatch::find(const Places& places, const std::vector<Agent>& agents,
                                      Nanos now_utc) {
  std::vector<Finding> made;
  std::vector<std::string> gone;
  for (const Agent& agent : agents) {
    const std::string& host = places.hosts()[agent.host].name;
    const bool flapping = flaps(host, agent, now_utc);
    if (!agent.alive && agent.heard_utc + kGone <= now_utc) {
      gone.push_back(host);
      made.push_back(agentFinding(places, host, goneText(host, agent.heard_utc)));
    } else if (flapping) {
      made.push_back(agentFinding(places, host,
                                  fmt::format("{}'s agent restarts again and again: at least {} "
                                              "times in 10 minutes",
                                              host, kRestarts)));
      made.back().severity = Severity::kSlow;
    }
  }
  const auto share = static_cast<double>(gone.size()) / static_cast<double>(agents.size() + 1);
  if (gone.size() <= kMany || share < kManyShare) return made;
  std::erase_if(made, [](const Finding& finding) { return finding.severity == Severity::kDown; });
  made.push_back(agentFinding(places, "agents", manyText(gone, agents.size())));
  return made;
}

}  // namespace pingloom::controller
