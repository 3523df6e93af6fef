#include "controller/control/verdicts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controller/model/incident_json.h"

namespace pingloom::controller {
namespace {

// The age of the oldest window is shown, so the counts are published this often though nothing
// changes.
constexpr Nanos kPublishCounts = 5 * kSecond;
constexpr Nanos kMaxPause = 10 * kSecond;

template <typename Value>
OrderAnswer answerOf(const Result<Value>& result) {
  if (!result) return tl::unexpected(result.error());
  return lineOf(toJson(*result)) + "\n";
}

OrderAnswer emptyAnswer(const Status& status) {
  if (!status) return tl::unexpected(status.error());
  return std::string("{}\n");
}

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

void Verdicts::setPlan(std::shared_ptr<const GridPlan> plan, Instant now) {
  places_ = Places(std::move(plan));
  applyMaintenance(now.utc);
  due_mono_ = now.mono;
}

void Verdicts::run(Instant now) {
  for (const OrderBoard::Asked& asked : orders_.takeAsked()) {
    asked.reply(carryOut(asked.order, now));
  }
  if (now.mono >= due_mono_) {
    applyMaintenance(now.utc);
    const Nanos started = monotonicNow();
    keeper_.update(find(now), now);
    const Nanos pause = std::clamp(10 * (monotonicNow() - started), kInterval, kMaxPause);
    due_mono_ = now.mono + pause;
  }
  publish(now);
}

OrderAnswer Verdicts::carryOut(const VerdictOrder& order, Instant now) {
  return std::visit(
      Overloaded{
          [&](const AcknowledgeOrder& it) {
            return answerOf(keeper_.acknowledge(it.incident, it.acknowledgement, now));
          },
          [&](const AddSilenceOrder& it) { return answerOf(keeper_.addSilence(it.silence, now)); },
          [&](const RemoveSilenceOrder& it) {
            return emptyAnswer(keeper_.removeSilence(it.silence, now));
          },
          [&](const BeginMaintenanceOrder& it) -> OrderAnswer {
            if (places_.hostNamed(it.maintenance.host) == Places::kNone) {
              return makeError("host '" + it.maintenance.host + "'", "is not in the pinglist");
            }
            auto answer = answerOf(keeper_.beginMaintenance(it.maintenance, now));
            applyMaintenance(now.utc);
            return answer;
          },
          [&](const EndMaintenanceOrder& it) {
            auto answer = emptyAnswer(keeper_.endMaintenance(it.host));
            applyMaintenance(now.utc);
            return answer;
          }},
      order);
}

std::vector<Maintenance> Verdicts::maintenance(Nanos now_utc) const {
  std::vector<Maintenance> made;
  for (const auto& [host, by_hand] : keeper_.maintenance()) {
    if (by_hand.until_utc > now_utc) made.push_back(by_hand);
  }
  for (const Places::Host& host : places_.hosts()) {
    if (host.known == nullptr || host.known->maintenance_until.value_or(0) <= now_utc) continue;
    if (keeper_.maintenance().contains(host.name)) continue;
    Maintenance& written = made.emplace_back();
    written.host = host.name;
    written.until_utc = *host.known->maintenance_until;
    written.in_pinglist = true;
  }
  return made;
}

void Verdicts::applyMaintenance(Nanos now_utc) {
  in_maintenance_ = maintenance(now_utc);
  std::unordered_set<IpAddress, IpAddressHash> addresses;
  for (const Maintenance& each : in_maintenance_) {
    const std::uint32_t host = places_.hostNamed(each.host);
    if (host == Places::kNone) continue;
    for (const std::uint32_t at : places_.hosts()[host].addresses) {
      addresses.insert(places_.addresses()[at].address);
    }
  }
  grid_.setMaintenance(std::move(addresses));
}

// An agent may own several addresses; it belongs to the host of the first that the plan has.
std::vector<AgentWatch::Agent> Verdicts::agents() const {
  std::set<std::string> quiet;
  for (const Maintenance& each : in_maintenance_) quiet.insert(each.host);
  std::vector<AgentWatch::Agent> made;
  for (const auto& [id, agent] : registry_.agents()) {
    for (const IpAddress& address : agent->info.addresses) {
      const std::uint32_t at = places_.addressOf(address);
      if (at == Places::kNone) continue;
      const std::uint32_t host = places_.addresses()[at].host;
      if (quiet.contains(places_.hosts()[host].name)) break;
      const Presence presence = registry_.presence(address);
      made.push_back({host, presence.alive, presence.heard_utc, agent->info.incarnation});
      break;
    }
  }
  return made;
}

std::vector<Finding> Verdicts::find(Instant now) {
  std::vector<Finding> found = agent_watch_.find(places_, agents(), now.utc);
  std::set<std::string> entities;
  for (const Finding& finding : found) entities.insert(finding.entity);
  counts_ = grid_.judgedCounts();
  if (counts_.bad == 0) return found;
  for (Finding& finding : findCulprits(places_, grid_.snapshots())) {
    // What an agent's absence explains is not said twice.
    if (entities.insert(finding.entity).second) found.push_back(std::move(finding));
  }
  return found;
}

void Verdicts::publish(Instant now) {
  const bool counts_due = now.mono - published_mono_ >= kPublishCounts;
  if (!keeper_.changed() && !counts_due && counts_.judged == published_judged_) return;
  auto verdict = std::make_shared<Verdict>(keeper_.verdict());
  verdict->maintenance = in_maintenance_;
  verdict->judged_pairs = counts_.judged;
  verdict->oldest_window_utc = counts_.oldest_end_utc;
  published_judged_ = counts_.judged;
  published_mono_ = now.mono;
  board_.publishVerdict(std::move(verdict));
}

}  // namespace pingloom::controller
