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

using FlowKey = std::tuple<std::uint32_t, IpAddress, IpAddress, std::uint32_t>;

// The row of one flow in its source's newest window; nullptr if it says nothing about the network.
const Row* rowOf(const SourceSnapshot& snapshot, std::uint32_t path, std::uint32_t destination) {
  if (snapshot.rows == nullptr || snapshot.severityOf(destination) == Severity::kNone) {
    return nullptr;
  }
  const Rows* rows = snapshot.rows->ofPath(path);
  if (rows == nullptr || destination >= rows->size() || (*rows)[destination].sent == 0) {
    return nullptr;
  }
  return &(*rows)[destination];
}

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

void FabricJudge::build(const Evidence& evidence) {
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
    const auto over = back == by_flow.end()
                          ? fabric_.addPath(nodesOf(*path))
                          : fabric_.addRoundTrip(nodesOf(*path), nodesOf(*back->second));
    if (over) flows_.push_back({probe, *from, *to, number, *over});
  }
}

std::vector<Observation> FabricJudge::observe(const JudgedSources& sources) const {
  std::vector<Observation> made;
  made.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Flow& flow = flows_[i];
    const Row* row = nullptr;
    if (flow.probe < sources.size() && flow.source < sources[flow.probe].size()) {
      row = rowOf(*sources[flow.probe][flow.source], flow.path, flow.destination);
    }
    if (row == nullptr) continue;
    Observation observation = observationOf(*row);
    observation.flow = i;
    observation.path = flow.over;
    made.push_back(observation);
  }
  return made;
}

FabricReport FabricJudge::judge(const Evidence& evidence) {
  if (map_ != evidence.map || places_ != evidence.places) build(evidence);
  FabricReport report;
  const std::vector<Observation> observations = observe(evidence.sources);
  report.flows = observations.size();
  for (const localise::Verdict& verdict : localise::localise(fabric_, observations).verdicts) {
    // Hosts are accused by cover.h, which sees all probes and directions.
    if (fabric_.components()[verdict.component].at_host) continue;
    report.findings.push_back(findingOf(verdict, evidence, observations, report));
  }
  return report;
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

Finding FabricJudge::findingOf(const localise::Verdict& verdict, const Evidence& evidence,
                               const std::vector<Observation>& observations,
                               FabricReport& report) const {
  const GridPlan& plan = places_->plan();
  Finding made;
  made.culprit = culpritOf(verdict.component);
  made.entity = entityOf(made.culprit);
  made.figure = Figure::kLoss;
  made.severity = verdict.rate >= kAll && verdict.share >= 1 ? Severity::kDown : Severity::kLossy;
  made.judged_pairs = verdict.through;
  made.settled = verdict.gain >= kSureGain && verdict.witnesses > 1;
  for (const ComponentId other : std::span(verdict.alternatives).subspan(1)) {
    if (made.candidates.size() < Incident::kMaxCandidates) {
      made.candidates.push_back(culpritOf(other));
    }
  }
  std::set<std::string> probes;
  std::vector<std::pair<double, const Observation*>> worst;
  for (const Observation& it : observations) {
    if (it.lost == 0 || !crosses(fabric_, it.path, verdict.component)) continue;
    const Flow& flow = flows_[it.flow];
    const ProbeGrid& grid = plan.probes[flow.probe];
    const IpAddress& a = grid.sources[flow.source];
    const IpAddress& b = grid.destinations[flow.destination];
    probes.insert(grid.spec.name);
    report.explained.insert({std::min(a, b), std::max(a, b)});
    ++made.bad_pairs;
    made.window = std::max(made.window, evidence.sources[flow.probe][flow.source]->rows->window);
    worst.emplace_back(-static_cast<double>(it.lost) / it.sent, &it);
  }
  made.probes.assign(probes.begin(), probes.end());
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  if (worst.size() > Incident::kMaxEvidence) worst.resize(Incident::kMaxEvidence);
  for (const auto& [share, it] : worst) {
    const Flow& flow = flows_[it->flow];
    const ProbeGrid& grid = plan.probes[flow.probe];
    const SourceSnapshot& snapshot = *evidence.sources[flow.probe][flow.source];
    pingloom::controller::Evidence& line = made.evidence.emplace_back();
    line.probe = grid.spec.name;
    line.source = grid.sources[flow.source];
    line.destination = grid.destinations[flow.destination];
    line.source_name = places_->addresses()[places_->addressOf(line.source)].name;
    line.destination_name = places_->addresses()[places_->addressOf(line.destination)].name;
    line.state = snapshot.states[flow.destination].value_or(PairState::kPending);
    line.severity = snapshot.severityOf(flow.destination);
    line.because = flow.path == 0
                       ? fmt::format("loses {} of {} pings", it->lost, it->sent)
                       : fmt::format("path {} loses {} of {} pings", flow.path, it->lost, it->sent);
  }
  made.sentence = fabricSentenceOf(made, {verdict.rate, verdict.share, verdict.witnesses});
  return made;
}

}  // namespace pingloom::controller
