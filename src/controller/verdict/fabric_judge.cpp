#include "controller/verdict/fabric_judge.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

using localise::ComponentId;
using localise::NodeId;
using localise::Observation;

// The routers that a flow and its answers pass, as one number.
std::uint64_t routeOf(const TracedPath& path, const TracedPath* back) {
  std::string routers = path.probe;
  for (const TracedPath* each : {&path, back}) {
    if (each == nullptr) continue;
    for (const PathHop& hop : each->hops) {
      routers += '|';
      if (hop.isKnown()) routers += hop.router.text();
    }
  }
  return std::hash<std::string>{}(routers);
}

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
  std::map<FlowKey, const TracedPath*> by_flow;
  for (const auto& known : evidence.paths) {
    const TracedPath& path = known->path;
    const auto probe = probes.find(path.probe);
    if (probe == probes.end()) continue;
    by_flow[{probe->second, path.source, path.destination, path.path}] = &path;
  }
  for (const auto& [key, path] : by_flow) {
    const auto& [probe, source, destination, number] = key;
    const auto from = indexOf(plan.probes[probe].sources, source);
    const auto to = indexOf(plan.probes[probe].destinations, destination);
    if (!from || !to) continue;
    const auto back = by_flow.find({probe, destination, source, number});
    const TracedPath* return_path = back == by_flow.end() ? nullptr : back->second;
    const auto over = return_path == nullptr
                          ? fabric_.addPath(nodesOf(*path))
                          : fabric_.addRoundTrip(nodesOf(*path), nodesOf(*return_path));
    if (!over) continue;
    Flow& flow = flows_.emplace_back();
    flow = {probe, *from, *to, number, *over, {}};
    const std::uint64_t route = routeOf(*path, return_path);
    const auto known = memories.find(key);
    if (known != memories.end() && known->second.route == route) flow.memory = known->second;
    flow.memory.route = route;
  }
}

FabricReport FabricJudge::judge(const Evidence& evidence) {
  if (map_ != evidence.map || places_ != evidence.places) build(evidence);
  FabricReport report;
  const Symptom loss = observeLoss(evidence);
  report.flows = loss.observations.size();
  const Accused accused = explain(loss, {}, evidence, report);
  explain(observeLongLoss(loss, accused), {}, evidence, report);
  report.to_confirm = flowsToConfirm(loss, report);
  const Symptom delay = observeDelay(evidence.sources);
  localise::Settings settings = localise::delaySettings();
  settings.background =
      std::clamp(usualShare(delay.observations), settings.background, settings.max_background);
  explain(delay, settings, evidence, report);
  return report;
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
    // When everything is a little slow, parts of the fabric may stand out by chance.
    if (symptom.figure != Figure::kLoss &&
        delayBy(verdict.component, symptom) < FlowBaseline::kLeastExcess) {
      continue;
    }
    report.findings.push_back(findingOf(verdict, evidence, symptom, explained));
    accused.push_back(verdict.component);
  }
  return accused;
}

}  // namespace pingloom::controller
