#include "controller/verdict/fabric_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

#include "controller/model/grid_plan.h"
#include "controller/model/limits.h"
#include "controller/verdict/sentence.h"

namespace pingloom::controller {
namespace {

using localise::ComponentId;
using localise::NodeId;
using localise::Observation;

// A flow that loses this much loses everything; single packets may be answered by chance.
constexpr double kAll = 0.95;
// The next window may well name another culprit if this one gains less (in nats).
constexpr double kSureGain = 30;
// A search for suspects asks for this much less (in nats).
constexpr double kSuspicion = 6;
constexpr std::size_t kConfirmCrossing = 4;  // flows that cross a suspect, and as many that do not
constexpr double kSureDelayGain = 100;       // a short queue delays several samples at a time

// What was refused never crossed the fabric to its end, and what found no way never left.
Observation observationOf(const Row& row) {
  Observation made;
  made.sent = row.received + row.lost;
  made.lost = row.lost - std::min(row.lost, row.late);  // a late answer was not lost
  return made;
}

bool crosses(const localise::Fabric& fabric, localise::PathId path, ComponentId component) {
  const auto components = fabric.componentsOf(path);
  return std::binary_search(components.begin(), components.end(), component);
}

// Which way a flow and its answers take, by the routers.
std::uint64_t wayOf(const TracedPath& path, const TracedPath* back) {
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

double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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

std::map<FabricJudge::FlowKey, FlowBaseline> FabricJudge::takeBaselines() {
  std::map<FlowKey, FlowBaseline> taken;
  if (places_ == nullptr) return taken;
  for (const Flow& flow : flows_) {
    const ProbeGrid& grid = places_->plan().probes[flow.probe];
    taken[{flow.probe, grid.sources[flow.source], grid.destinations[flow.destination], flow.path}] =
        flow.baseline;
  }
  return taken;
}

void FabricJudge::build(const Evidence& evidence) {
  const std::map<FlowKey, FlowBaseline> baselines = takeBaselines();
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
    flow = {probe, *from, *to, number, *over, wayOf(*path, return_path), {}};
    // A baseline that belongs to another path is forgotten with the next window.
    if (const auto it = baselines.find(key); it != baselines.end()) flow.baseline = it->second;
  }
}

// The row of a flow in its source's newest window; nullptr if it says nothing about the network.
const Row* FabricJudge::rowOf(const Flow& flow, const JudgedSources& sources) const {
  if (flow.probe >= sources.size() || flow.source >= sources[flow.probe].size()) return nullptr;
  const SourceSnapshot& snapshot = *sources[flow.probe][flow.source];
  if (snapshot.rows == nullptr || snapshot.severityOf(flow.destination) == Severity::kNone) {
    return nullptr;
  }
  const Rows* rows = snapshot.rows->ofPath(flow.path);
  if (rows == nullptr || flow.destination >= rows->size()) return nullptr;
  const Row& row = (*rows)[flow.destination];
  return row.sent == 0 ? nullptr : &row;
}

FabricJudge::Symptom FabricJudge::observeLoss(const Evidence& evidence) const {
  Symptom made;
  made.observations.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Row* row = rowOf(flows_[i], evidence.sources);
    if (row == nullptr) continue;
    Observation observation = observationOf(*row);
    observation.flow = i;
    observation.path = flows_[i].over;
    made.observations.push_back(observation);
  }
  addBursts(made, evidence.bursts);
  return made;
}

FlowName FabricJudge::nameOf(const Flow& flow) const {
  const ProbeGrid& grid = places_->plan().probes[flow.probe];
  return {grid.spec.name, grid.sources[flow.source], grid.destinations[flow.destination],
          flow.path};
}

void FabricJudge::addBursts(Symptom& symptom, const std::vector<FlowCounts>& bursts) const {
  const auto& probes = places_->plan().probes;
  for (const FlowCounts& burst : bursts) {
    const FlowName& name = burst.flow;
    const auto probe = std::find_if(probes.begin(), probes.end(), [&](const ProbeGrid& grid) {
      return grid.spec.name == name.probe;
    });
    if (probe == probes.end()) continue;
    const auto from = indexOf(probe->sources, name.source);
    const auto to = indexOf(probe->destinations, name.destination);
    if (!from || !to) continue;
    const auto number = static_cast<std::uint32_t>(probe - probes.begin());
    const auto it = std::find_if(symptom.observations.begin(), symptom.observations.end(),
                                 [&](const Observation& each) {
                                   const Flow& flow = flows_[each.flow];
                                   return flow.probe == number && flow.source == *from &&
                                          flow.destination == *to && flow.path == name.path;
                                 });
    if (it == symptom.observations.end()) continue;
    it->sent += burst.sent;
    it->lost += burst.lost;
  }
}

// The first part of the fabric that is in doubt: the culprit of a finding that is not settled, or
// else what a search that asks for less finds.
std::vector<FlowName> FabricJudge::flowsToConfirm(const Symptom& loss,
                                                  const FabricReport& report) const {
  const bool doubtful = std::any_of(report.findings.begin(), report.findings.end(),
                                    [](const Finding& finding) { return !finding.settled; });
  if (!doubtful && !report.findings.empty()) return {};
  localise::Settings low;
  for (double* cost : {&low.cost_link, &low.cost_host, &low.cost_cable, &low.cost_switch}) {
    *cost -= kSuspicion;
  }
  for (const localise::Verdict& verdict :
       localise::localise(fabric_, loss.observations, low).verdicts) {
    if (fabric_.components()[verdict.component].at_host || verdict.gain >= kSureGain) continue;
    return choose(loss, verdict.component);
  }
  return {};
}

// An agent sends one burst at a time. So of each switch next to hosts one host sends over the
// suspect, and another one beside it.
std::vector<FlowName> FabricJudge::choose(const Symptom& loss, ComponentId component) const {
  std::vector<FlowName> chosen;
  std::set<NodeId> sources;
  std::set<NodeId> crossing_from;
  std::set<std::pair<NodeId, NodeId>> edges;
  const auto take = [&](const Observation& it) {
    if (!sources.insert(fabric_.ends(it.path).source).second) return false;
    chosen.push_back(nameOf(flows_[it.flow]));
    return true;
  };
  for (const Observation& it : loss.observations) {
    if (!crosses(fabric_, it.path, component)) continue;
    const auto& ends = fabric_.ends(it.path);
    edges.insert({ends.first_switch, ends.last_switch});
    if (chosen.size() >= kConfirmCrossing || crossing_from.contains(ends.first_switch)) continue;
    if (take(it)) crossing_from.insert(ends.first_switch);
  }
  for (const Observation& it : loss.observations) {
    if (chosen.size() >= 2 * kConfirmCrossing) break;
    const auto& ends = fabric_.ends(it.path);
    if (crosses(fabric_, it.path, component)) continue;
    if (edges.contains({ends.first_switch, ends.last_switch})) take(it);
  }
  return chosen;
}

FabricJudge::Symptom FabricJudge::observeDelay(const JudgedSources& sources) {
  Symptom made;
  made.figure = Figure::kNetwork;
  made.observations.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    const Row* row = rowOf(flow, sources);
    if (row == nullptr) continue;
    // Window 0 is the one that a baseline without windows has.
    const std::uint64_t window = sources[flow.probe][flow.source]->rows->window_index + 1;
    flow.baseline.take(window, flow.way, row->network);
    const Exceedance& newest = flow.baseline.newest();
    made.observations.push_back({i, flow.over, newest.samples, newest.above});
  }
  return made;
}

FabricReport FabricJudge::judge(const Evidence& evidence) {
  if (map_ != evidence.map || places_ != evidence.places) build(evidence);
  FabricReport report;
  const Symptom loss = observeLoss(evidence);
  report.flows = loss.observations.size();
  explain(loss, {}, evidence, report);
  report.to_confirm = flowsToConfirm(loss, report);
  const Symptom delay = observeDelay(evidence.sources);
  localise::Settings settings = localise::delaySettings();
  settings.background =
      std::clamp(usualShare(delay.observations), settings.background, settings.max_background);
  explain(delay, settings, evidence, report);
  return report;
}

void FabricJudge::explain(const Symptom& symptom, const localise::Settings& settings,
                          const Evidence& evidence, FabricReport& report) const {
  auto& explained = symptom.figure == Figure::kLoss ? report.explained : report.explained_delay;
  for (const localise::Verdict& verdict :
       localise::localise(fabric_, symptom.observations, settings).verdicts) {
    // Hosts are accused by cover.h, which sees all probes and directions.
    if (fabric_.components()[verdict.component].at_host) continue;
    // When everything is a little slow, parts of the fabric may stand out by chance.
    if (symptom.figure != Figure::kLoss &&
        delayBy(verdict.component, symptom) < FlowBaseline::kLeastExcess) {
      continue;
    }
    report.findings.push_back(findingOf(verdict, evidence, symptom, explained));
  }
}

Culprit FabricJudge::culpritOf(ComponentId component) const {
  const localise::Component& it = fabric_.components()[component];
  Culprit made;
  made.name = fabric_.name(component);
  switch (it.kind) {
    case localise::Kind::kLink:
      made.kind = CulpritKind::kLink;
      break;
    case localise::Kind::kCable:
      made.kind = CulpritKind::kCable;
      break;
    case localise::Kind::kSwitch:
      made.kind = CulpritKind::kSwitch;
      break;
    case localise::Kind::kHost:
      made.kind = CulpritKind::kAddress;
      break;
  }
  return made;
}

// By how much the flows through a component are slower than usual, compared with the others.
std::uint64_t FabricJudge::delayBy(ComponentId component, const Symptom& symptom) const {
  std::vector<double> through;
  std::vector<double> others;
  for (const Observation& it : symptom.observations) {
    auto& values = crosses(fabric_, it.path, component) ? through : others;
    values.push_back(flows_[it.flow].baseline.newest().excess_ns);
  }
  return static_cast<std::uint64_t>(
      std::max(0.0, medianOf(std::move(through)) - medianOf(std::move(others))));
}

Finding FabricJudge::findingOf(const localise::Verdict& verdict, const Evidence& evidence,
                               const Symptom& symptom, FabricReport::Pairs& explained) const {
  const bool is_loss = symptom.figure == Figure::kLoss;
  const GridPlan& plan = places_->plan();
  Finding made;
  made.culprit = culpritOf(verdict.component);
  made.entity = entityOf(made.culprit);
  made.figure = symptom.figure;
  made.severity = Severity::kSlow;
  if (is_loss) {
    const bool all = verdict.rate >= kAll && verdict.share >= 1;
    made.severity = all ? Severity::kDown : Severity::kLossy;
  }
  made.judged_pairs = verdict.through;
  made.settled = verdict.gain >= (is_loss ? kSureGain : kSureDelayGain) && verdict.witnesses > 1;
  for (const ComponentId other : std::span(verdict.alternatives).subspan(1)) {
    if (made.candidates.size() < Incident::kMaxCandidates) {
      made.candidates.push_back(culpritOf(other));
    }
  }
  std::set<std::string> probes;
  std::vector<const Observation*> worst;
  for (const Observation& it : symptom.observations) {
    if (it.lost == 0 || !crosses(fabric_, it.path, verdict.component)) continue;
    const Flow& flow = flows_[it.flow];
    const ProbeGrid& grid = plan.probes[flow.probe];
    const IpAddress& a = grid.sources[flow.source];
    const IpAddress& b = grid.destinations[flow.destination];
    probes.insert(grid.spec.name);
    explained.insert({std::min(a, b), std::max(a, b)});
    ++made.bad_pairs;
    made.window = std::max(made.window, evidence.sources[flow.probe][flow.source]->rows->window);
    worst.push_back(&it);
  }
  made.probes.assign(probes.begin(), probes.end());
  addEvidence(made, worst, evidence);
  FabricSummary summary{verdict.rate, verdict.share, verdict.witnesses, 0};
  if (!is_loss) summary.delay_ns = delayBy(verdict.component, symptom);
  made.sentence = fabricSentenceOf(made, summary);
  return made;
}

std::string FabricJudge::becauseOf(const Observation& it, Figure figure) const {
  const Flow& flow = flows_[it.flow];
  const std::string path = flow.path == 0 ? "" : fmt::format("path {} ", flow.path);
  if (figure == Figure::kLoss) {
    return fmt::format("{}loses {} of {} pings", path, it.lost, it.sent);
  }
  const double excess = std::max(0.0, flow.baseline.newest().excess_ns);
  return fmt::format("{}is {} slower than usual", path,
                     timeText(static_cast<std::uint64_t>(excess)));
}

// The flows that are hit most, at most kMaxEvidence.
void FabricJudge::addEvidence(Finding& finding, const std::vector<const Observation*>& hit,
                              const Evidence& evidence) const {
  std::vector<const Observation*> worst = hit;
  std::stable_sort(worst.begin(), worst.end(), [](const auto* x, const auto* y) {
    return static_cast<double>(x->lost) / x->sent > static_cast<double>(y->lost) / y->sent;
  });
  if (worst.size() > Incident::kMaxEvidence) worst.resize(Incident::kMaxEvidence);
  for (const Observation* it : worst) {
    const Flow& flow = flows_[it->flow];
    const ProbeGrid& grid = places_->plan().probes[flow.probe];
    const SourceSnapshot& snapshot = *evidence.sources[flow.probe][flow.source];
    pingloom::controller::Evidence& line = finding.evidence.emplace_back();
    line.probe = grid.spec.name;
    line.source = grid.sources[flow.source];
    line.destination = grid.destinations[flow.destination];
    line.source_name = places_->addresses()[places_->addressOf(line.source)].name;
    line.destination_name = places_->addresses()[places_->addressOf(line.destination)].name;
    line.state = snapshot.states[flow.destination].value_or(PairState::kPending);
    line.severity = snapshot.severityOf(flow.destination);
    line.because = becauseOf(*it, finding.figure);
  }
}

}  // namespace pingloom::controller
