// Makes findings of what the localiser says, and chooses the flows that bursts should confirm.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "controller/model/grid_plan.h"
#include "controller/model/limits.h"
#include "controller/verdict/fabric_judge.h"
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
// What hits a part of its flows is a black hole that has begun within the window, if it is this
// much of their packets.
constexpr double kHole = 0.5;
// A search for suspects asks for this much less (in nats).
constexpr double kSuspicion = 6;
// A culprit that leads by less may lead by chance: of the few packets that were lost when a switch
// began to lose some, all may have crossed the same cable.
constexpr double kSureLead = 10;
constexpr std::size_t kConfirmCrossing = 4;  // flows that cross a suspect, and as many that do not
constexpr double kSureDelayGain = 100;       // a short queue delays several samples at a time

// Returns the value that this share of them is below. REQUIRES: 0 <= share < 1.
double quantileOf(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

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

FabricJudge::Delay FabricJudge::delayBy(ComponentId component, const Symptom& symptom) const {
  std::vector<double> through;
  std::vector<double> others;
  for (const Observation& it : symptom.observations) {
    auto& values = fabric_.crosses(it.path, component) ? through : others;
    values.push_back(flows_[it.flow].memory.baseline.newest().excess_ns);
  }
  const double usual = quantileOf(others, 0.5);
  return {std::max(0.0, quantileOf(through, 0.5) - usual), quantileOf(others, 0.75) - usual};
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
  // Which flows a black hole hits does not change, so another window would decide nothing.
  const bool hole = is_loss && verdict.share < 1 && verdict.rate >= kHole;
  const double sure = is_loss ? kSureGain : kSureDelayGain;
  made.settled = verdict.witnesses > 1 && (verdict.gain >= sure || (hole && verdict.rate >= kAll));
  made.close_call = is_loss && !hole && verdict.lead < kSureLead;
  for (const ComponentId other : std::span(verdict.alternatives).subspan(1)) {
    if (made.candidates.size() < Incident::kMaxCandidates) {
      made.candidates.push_back(culpritOf(other));
    }
  }
  std::set<std::string> probes;
  std::vector<const Observation*> worst;
  std::set<std::uint32_t> hit;
  for (const Observation& it : symptom.observations) {
    if (it.lost == 0 || !fabric_.crosses(it.path, verdict.component)) continue;
    const Flow& flow = flows_[it.flow];
    const ProbeGrid& grid = plan.probes[flow.probe];
    const IpAddress& a = grid.sources[flow.source];
    const IpAddress& b = grid.destinations[flow.destination];
    probes.insert(grid.spec.name);
    explained.insert({std::min(a, b), std::max(a, b)});
    hit.insert(it.flow);
    made.window = std::max(made.window, evidence.sources[flow.probe][flow.source]->rows->window);
    worst.push_back(&it);
  }
  made.bad_pairs = static_cast<std::uint32_t>(hit.size());
  made.probes.assign(probes.begin(), probes.end());
  addEvidence(made, worst, evidence);
  FabricSummary summary{verdict.rate, verdict.share, verdict.witnesses, 0};
  if (!is_loss)
    summary.delay_ns = static_cast<std::uint64_t>(delayBy(verdict.component, symptom).excess_ns);
  made.sentence = fabricSentenceOf(made, summary);
  return made;
}

std::string FabricJudge::becauseOf(const Observation& it, Figure figure) const {
  const Flow& flow = flows_[it.flow];
  const std::string path = flow.path == 0 ? "" : fmt::format("path {} ", flow.path);
  if (figure == Figure::kLoss) {
    const char* what = "pings";
    if (it.path == flow.there) what = "pings on the way there";
    if (it.path == flow.back) what = "answers on the way back";
    return fmt::format("{}loses {} of {} {}", path, it.lost, it.sent, what);
  }
  const double excess = std::max(0.0, flow.memory.baseline.newest().excess_ns);
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

FlowName FabricJudge::nameOf(const Flow& flow) const {
  const ProbeGrid& grid = places_->plan().probes[flow.probe];
  return {grid.spec.name, grid.sources[flow.source], grid.destinations[flow.destination],
          flow.path};
}

// A part of the fabric that is in doubt: the culprit of a finding that is not settled or a close
// call, or else the first that a search that asks for less finds.
std::vector<FlowName> FabricJudge::flowsToConfirm(const Symptom& loss,
                                                  const FabricReport& report) const {
  std::set<std::string> doubtful;  // entities
  for (const Finding& finding : report.findings) {
    if (!finding.settled || finding.close_call) doubtful.insert(finding.entity);
  }
  if (doubtful.empty() && !report.findings.empty()) return {};
  localise::Settings low;
  for (double* cost : {&low.cost_link, &low.cost_host, &low.cost_cable, &low.cost_switch}) {
    *cost -= kSuspicion;
  }
  std::vector<localise::Verdict> suspects =
      localise::localise(fabric_, loss.observations, low).verdicts;
  std::erase_if(suspects, [&](const localise::Verdict& verdict) {
    const bool sure = verdict.gain >= kSureGain && verdict.lead >= kSureLead;
    return fabric_.components()[verdict.component].at_host || sure;
  });
  if (suspects.empty()) return {};
  const auto found = std::find_if(suspects.begin(), suspects.end(), [&](const auto& verdict) {
    return doubtful.contains(entityOf(culpritOf(verdict.component)));
  });
  return choose(loss, found == suspects.end() ? suspects.front() : *found);
}

// An agent sends one burst at a time. So of each switch next to hosts one host sends over the
// suspect, and another one beside it. Flows that cross either the suspect or its rival come first.
std::vector<FlowName> FabricJudge::choose(const Symptom& loss,
                                          const localise::Verdict& suspect) const {
  const ComponentId component = suspect.component;
  std::vector<FlowName> chosen;
  std::set<NodeId> sources;
  std::set<NodeId> crossing_from;
  std::set<std::pair<NodeId, NodeId>> edges;
  const auto take = [&](const Flow& flow) {
    if (!sources.insert(fabric_.ends(flow.over).source).second) return false;
    chosen.push_back(nameOf(flow));
    return true;
  };
  const bool close = suspect.rival && suspect.lead < kSureLead;
  const auto crosses_rival = [&](const Flow& flow) {
    return close && fabric_.crosses(flow.over, *suspect.rival);
  };
  for (const bool with_rival : {false, true}) {
    for (const std::uint32_t number : loss.flows) {
      const Flow& flow = flows_[number];
      if (!fabric_.crosses(flow.over, component) || crosses_rival(flow) != with_rival) continue;
      const auto& ends = fabric_.ends(flow.over);
      edges.insert({ends.first_switch, ends.last_switch});
      if (chosen.size() >= kConfirmCrossing || crossing_from.contains(ends.first_switch)) continue;
      if (take(flow)) crossing_from.insert(ends.first_switch);
    }
  }
  const auto take_beside = [&](const auto& serves) {
    for (const std::uint32_t number : loss.flows) {
      if (chosen.size() >= 2 * kConfirmCrossing) break;
      const Flow& flow = flows_[number];
      if (!fabric_.crosses(flow.over, component) && serves(flow)) take(flow);
    }
  };
  take_beside(crosses_rival);
  take_beside([&](const Flow& flow) {
    const auto& ends = fabric_.ends(flow.over);
    return edges.contains({ends.first_switch, ends.last_switch});
  });
  return chosen;
}

}  // namespace pingloom::controller
