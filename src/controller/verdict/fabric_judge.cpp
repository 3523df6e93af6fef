#include "controller/verdict/fabric_judge.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

using localise::ComponentId;
using localise::NodeId;
using localise::Observation;

// A delay is a component's if it is so many times what the delays of the other flows scatter by.
constexpr double kScatter = 3;
// A delay from here on is a component's however they scatter, because another fault may be why.
constexpr double kBeyondScatter = 50'000;  // nanoseconds

// The part of the samples that are slow in flows that are not slow as a whole.
double usualShare(const std::vector<Observation>& observations) {
  std::uint64_t sent = 0;
  std::uint64_t above = 0;
  for (const Observation& it : observations) {
    if (2 * it.lost >= it.sent) continue;
    sent += it.sent;
    above += it.lost;
  }
  return sent == 0 ? 0 : static_cast<double>(above) / static_cast<double>(sent);
}

}  // namespace

NodeId FabricJudge::hostNode(std::uint32_t address) const {
  return static_cast<NodeId>(map_->switches.size() + address);
}

std::vector<NodeId> FabricJudge::nodesOf(const TracedPath& path) const {
  std::vector<NodeId> nodes = {hostNode(places_->addressOf(path.source))};
  for (const PathHop& hop : path.hops) {
    const NodeId node = hop.isKnown() ? map_->at(hop.router) : localise::kUnknownNode;
    if (nodes.size() < localise::kMaxHops - 1) nodes.push_back(node);
  }
  // Nobody knows what comes behind the last router of a path whose end was not reached.
  if (path.end != PathEnd::kReached) nodes.push_back(localise::kUnknownNode);
  nodes.push_back(hostNode(places_->addressOf(path.destination)));
  return nodes;
}

std::map<FabricJudge::FlowKey, FabricJudge::Memory> FabricJudge::takeMemories() const {
  std::map<FlowKey, Memory> taken;
  if (places_ == nullptr) return taken;
  for (const Flow& flow : flows_) {
    const ProbeGrid& grid = places_->plan().probes[flow.probe];
    taken[{flow.probe, grid.sources[flow.source], grid.destinations[flow.destination], flow.path}] =
        flow.memory;
  }
  return taken;
}

void FabricJudge::build(const Evidence& evidence) {
  const std::map<FlowKey, Memory> memories = takeMemories();
  places_ = evidence.places;
  map_ = evidence.map;
  fabric_ = {};
  flows_.clear();
  const GridPlan& plan = places_->plan();
  std::unordered_map<std::string_view, std::uint32_t> probes;
  for (std::uint32_t i = 0; i < plan.probes.size(); ++i) probes[plan.probes[i].spec.name] = i;
  for (std::uint32_t i = 0; i < map_->switches.size(); ++i) {
    fabric_.nameNode(i, map_->switches[i].name);
  }
  for (std::uint32_t i = 0; i < places_->addresses().size(); ++i) {
    fabric_.nameNode(hostNode(i), places_->addresses()[i].name);
  }
  Ways ways;
  for (const auto& known : evidence.paths) {
    const TracedPath& path = known->path;
    if (path.one_connection) continue;  // a row is about many connections, which take many paths
    const auto probe = probes.find(path.probe);
    if (probe == probes.end()) continue;
    ways[{probe->second, path.source, path.destination, path.path}].known = known.get();
  }
  for (auto at = ways.begin(); at != ways.end();) {
    const auto id = fabric_.addPath(nodesOf(at->second.known->path));
    at->second.id = id.value_or(0);
    at = id ? std::next(at) : ways.erase(at);
  }
  for (const auto& [key, way] : ways) {
    std::optional<Flow> flow = flowOf(key, ways);
    if (!flow) continue;
    const auto known = memories.find(key);
    if (known != memories.end() && known->second.route.maySame(flow->memory.route)) {
      const Route route = flow->memory.route;
      flow->memory = known->second;
      if (route.back_since != 0) flow->memory.route = route;
    }
    flows_.push_back(*flow);
  }
}

// nullopt if the flow is not in the plan, or the fabric has no room for it.
std::optional<FabricJudge::Flow> FabricJudge::flowOf(const FlowKey& key, const Ways& ways) {
  const auto& [probe, source, destination, number] = key;
  const ProbeGrid& grid = places_->plan().probes[probe];
  const auto from = indexOf(grid.sources, source);
  const auto to = indexOf(grid.destinations, destination);
  if (!from || !to) return std::nullopt;
  const Way& there = ways.at(key);
  const auto back = ways.find({probe, destination, source, number});
  const KnownPath* return_path = back == ways.end() ? nullptr : back->second.known;
  const auto over = return_path == nullptr ? fabric_.addPath(nodesOf(there.known->path))
                                           : fabric_.addRoundTrip(nodesOf(there.known->path),
                                                                  nodesOf(return_path->path));
  if (!over) return std::nullopt;
  Flow flow{probe, *from, *to, number, there.id, std::nullopt, *over, std::nullopt, {}};
  if (return_path != nullptr) flow.back = back->second.id;
  const auto reverse_from = indexOf(grid.sources, destination);
  const auto reverse_to = indexOf(grid.destinations, source);
  if (reverse_from && reverse_to) flow.reverse = {*reverse_from, *reverse_to};
  flow.memory.route = {there.known->since_utc, return_path == nullptr ? 0 : return_path->since_utc};
  return flow;
}

FabricReport FabricJudge::judge(const Evidence& evidence) {
  if (map_ != evidence.map || places_ != evidence.places) build(evidence);
  FabricReport report;
  const Symptom loss = observeLoss(evidence);
  report.flows = loss.flows.size();
  const Accused accused = explain(loss, {}, evidence, report);
  const Accused later = explain(observeLongLoss(loss, accused), {}, evidence, report);
  note(accused, loss);
  note(later, loss);
  report.to_confirm = flowsToConfirm(loss, report);
  const Symptom delay = observeDelay(evidence.sources);
  localise::Settings settings = localise::delaySettings();
  settings.background =
      std::clamp(usualShare(delay.observations), settings.background, settings.max_background);
  explain(delay, settings, evidence, report);
  return report;
}

// When hosts are busy, all flows are a little slow, one more than the other, and parts of the
// fabric may seem slower by chance.
bool FabricJudge::standsOut(ComponentId component, const Symptom& delay) const {
  const auto [excess, scatter] = delayBy(component, delay);
  return excess >=
         std::max(FlowBaseline::kLeastExcess, std::min(kBeyondScatter, kScatter * scatter));
}

FabricJudge::Accused FabricJudge::explain(const Symptom& symptom,
                                          const localise::Settings& settings,
                                          const Evidence& evidence, FabricReport& report) const {
  Accused accused;
  auto& explained = symptom.figure == Figure::kLoss ? report.explained : report.explained_delay;
  for (const localise::Verdict& verdict :
       localise::localise(fabric_, symptom.observations, settings).verdicts) {
    // Hosts are accused by cover.h, which sees all probes and directions.
    if (fabric_.components()[verdict.component].at_host) continue;
    if (symptom.is_long && !lasts(verdict.component, symptom)) continue;
    if (symptom.figure != Figure::kLoss && !standsOut(verdict.component, symptom)) continue;
    report.findings.push_back(findingOf(verdict, evidence, symptom, explained));
    accused.push_back(verdict.component);
  }
  return accused;
}

}  // namespace pingloom::controller
