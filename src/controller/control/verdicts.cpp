#include "controller/control/verdicts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/json_text.h"
#include "controller/model/incident_json.h"
#include "controller/verdict/counter_evidence.h"
#include "controller/verdict/page_evidence.h"

namespace pingloom::controller {
namespace {

// The age of the oldest window is shown, so the counts are published this often though nothing
// changes.
constexpr Nanos kPublishCounts = 5 * kSecond;
constexpr Nanos kMaxPause = 10 * kSecond;

template <typename Value>
OrderAnswer answerOf(const Result<Value>& result) {
  if (!result) return tl::unexpected(result.error());
  return jsonLine(toJson(*result)) + "\n";
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
  places_ = std::make_shared<const Places>(std::move(plan));
  fabric_ = {};
  applyMaintenance(now.utc);
  due_mono_ = now.mono;
}

void Verdicts::follow(const std::vector<VerdictRecord>& records, Instant now) {
  leads_ = false;
  if (followed_ && *followed_ == records) return;
  followed_ = records;
  replaceAll(records, now);
}

void Verdicts::lead(const std::vector<VerdictRecord>& records, Instant now) {
  leads_ = true;
  followed_.reset();
  replaceAll(records, now);
  due_mono_ = now.mono;
}

void Verdicts::replaceAll(const std::vector<VerdictRecord>& records, Instant now) {
  keeper_ = IncidentKeeper();
  keeper_.restore(records, now);
  applyMaintenance(now.utc);
}

void Verdicts::run(Instant now) {
  for (const OrderBoard::Asked& asked : orders_.takeAsked()) {
    asked.reply(carryOut(asked.order, now));
  }
  if (leads_ && now.mono >= due_mono_) {
    applyMaintenance(now.utc);
    const Nanos started = monotonicNow();
    keeper_.update(find(now), now);
    const Nanos pause = std::clamp(10 * (monotonicNow() - started), kInterval, kMaxPause);
    due_mono_ = now.mono + pause;
  }
  publish(now);
}

OrderAnswer Verdicts::carryOut(const VerdictOrder& order, Instant now) {
  if (!leads_) {
    return makeError("this controller",
                     "follows another one, and only the leader takes orders about incidents; "
                     "`pingloom controllers` says which one leads");
  }
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
            if (places_->hostNamed(it.maintenance.host) == Places::kNone) {
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
  for (const Places::Host& host : places_->hosts()) {
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
    const std::uint32_t host = places_->hostNamed(each.host);
    if (host == Places::kNone) continue;
    for (const std::uint32_t at : places_->hosts()[host].addresses) {
      addresses.insert(places_->addresses()[at].address);
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
      const std::uint32_t at = places_->addressOf(address);
      if (at == Places::kNone) continue;
      const std::uint32_t host = places_->addresses()[at].host;
      if (quiet.contains(places_->hosts()[host].name)) break;
      const Presence presence = registry_.presence(address);
      made.push_back({host, presence.alive, presence.heard_utc, agent->info.incarnation});
      break;
    }
  }
  return made;
}

// Whether each pair that the finding rests on has an end whose agent is silent. An agent that died
// loses pings before its silence lasts long enough, and its network is not at fault. An agent that
// answers slowly is alive, although a starved one may be silent for a while.
bool Verdicts::waitsForAgents(const Finding& finding, Nanos now_utc) const {
  if (finding.figure != Figure::kLoss) return false;
  const auto silent = [&](const IpAddress& address) {
    const Presence presence = registry_.presence(address);
    return presence.known && presence.heard_utc + AgentWatch::kSilent <= now_utc;
  };
  const auto& lines = finding.evidence;
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), [&](const Evidence& line) {
    return silent(line.source) || silent(line.destination);
  });
}

std::vector<Finding> Verdicts::find(Instant now) {
  std::vector<Finding> found = agent_watch_.find(*places_, agents(), now.utc);
  for (Finding& finding : found) addEvidenceOfHosts(finding, now);
  std::set<std::string> entities;
  for (const Finding& finding : found) entities.insert(finding.entity);
  counts_ = grid_.judgedCounts();
  watchFabric(now.mono);
  std::vector<Finding> culprits = fabric_.findings;
  if (counts_.bad > 0) {
    for (Finding& finding : findCulprits(*places_, grid_.snapshots())) {
      if (!isExplained(finding)) culprits.push_back(std::move(finding));
    }
  }
  for (Finding& finding : culprits) {
    if (waitsForAgents(finding, now.utc)) continue;
    // What an agent's absence explains is not said twice.
    if (!entities.insert(finding.entity).second) continue;
    addEvidenceOfHosts(finding, now);
    found.push_back(std::move(finding));
  }
  return found;
}

// Looks at the fabric when there are new windows or other paths. A link that loses little makes no
// pair bad, so this does not wait for bad pairs.
void Verdicts::watchFabric(Nanos now_mono) {
  if (auto report = fabric_watch_.takeReport()) {
    fabric_ = std::move(*report);
    fabric_confirm_.begin(fabric_.to_confirm, places_->plan(), now_mono);
  }
  if (fabric_confirm_.collect(now_mono)) watched_ = {};
  const std::uint64_t version = board_.paths().version();
  const std::pair seen{version, grid_.reports()};
  if (version == 0 || seen == watched_ || !fabric_watch_.ready(now_mono)) return;
  watched_ = seen;
  fabric_watch_.begin({places_, grid_.snapshots(), fabric_confirm_.evidence()}, now_mono);
}

// Whether a fault of the fabric explains most of the pairs that the finding rests on.
bool Verdicts::isExplained(const Finding& finding) const {
  const bool slow = finding.figure == Figure::kNetwork || finding.figure == Figure::kRtt;
  if (finding.figure != Figure::kLoss && !slow) return false;
  const FabricReport::Pairs& pairs = slow ? fabric_.explained_delay : fabric_.explained;
  if (pairs.empty()) return false;
  const auto explained =
      std::count_if(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& line) {
        return pairs.contains(
            {std::min(line.source, line.destination), std::max(line.source, line.destination)});
      });
  return 2 * static_cast<std::size_t>(explained) > finding.evidence.size();
}

// Adds what the agents of the accused hosts told about their counters, and what collectors told
// about the hosts' applications.
void Verdicts::addEvidenceOfHosts(Finding& finding, Instant now) const {
  for (const std::uint32_t host : accusedHosts(*places_, finding)) {
    std::set<const HostCounters*> known;
    std::set<std::string> asked;  // hosts' ids
    for (const std::uint32_t at : places_->hosts()[host].addresses) {
      const Agent* agent = registry_.owner(places_->addresses()[at].address);
      if (agent == nullptr) continue;
      if (asked.insert(agent->info.host).second) {
        auto anomalies = board_.pageAnomalies().of(agent->info.host, now.mono);
        std::move(anomalies.begin(), anomalies.end(), std::back_inserter(finding.anomalies));
      }
      if (agent->info.counters == nullptr) continue;
      if (!known.insert(agent->info.counters.get()).second) continue;
      appendMoved(places_->hosts()[host].name, *agent->info.counters, now.utc, finding.counters);
    }
  }
  rankMoved(finding.counters);
  rankAnomalies(finding.anomalies);
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
