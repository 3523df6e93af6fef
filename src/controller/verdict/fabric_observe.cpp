// What the newest windows and bursts show of each flow.
#include <algorithm>
#include <array>

#include "controller/model/grid_plan.h"
#include "controller/verdict/fabric_judge.h"

namespace pingloom::controller {
namespace {

using localise::ComponentId;
using localise::Observation;

// What was refused never crossed the fabric to its end, and what found no way never left.
Observation observationOf(const Row& row) {
  Observation made;
  made.sent = row.received + row.lost;
  made.lost = row.lost - std::min(row.lost, row.late);  // a late answer was not lost
  return made;
}

}  // namespace

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

FabricJudge::Symptom FabricJudge::observeLoss(const Evidence& evidence) {
  Symptom made;
  made.observations.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    const Row* row = rowOf(flows_[i], evidence.sources);
    if (row == nullptr) continue;
    Observation observation = observationOf(*row);
    observation.flow = i;
    observation.path = flows_[i].over;
    made.observations.push_back(observation);
    Flow& flow = flows_[i];
    flow.memory.recent.take(evidence.sources[flow.probe][flow.source]->rows->window_index,
                            {observation.sent, observation.lost});
  }
  addBursts(made, evidence.bursts);
  return made;
}

// The newest windows together show what loses too little for one. Flows through what is accused
// already say nothing new.
FabricJudge::Symptom FabricJudge::observeLongLoss(const Symptom& loss,
                                                  const Accused& accused) const {
  Symptom made;
  made.is_long = true;
  made.observations.reserve(loss.observations.size());
  for (const Observation& it : loss.observations) {
    const bool explained = std::any_of(accused.begin(), accused.end(), [&](ComponentId component) {
      return fabric_.crosses(it.path, component);
    });
    if (explained) continue;
    const RecentCounts::Counts sum = flows_[it.flow].memory.recent.sum();
    made.observations.push_back({it.flow, it.path, sum.sent, sum.lost});
  }
  return made;
}

// Whether the losses through a component go on: they are in at least half of the windows, and in
// one of the newest two. Otherwise they are those of a fault that has ended.
bool FabricJudge::lasts(ComponentId component, const Symptom& loss) const {
  std::array<bool, RecentCounts::kWindows> lossy{};
  for (const Observation& it : loss.observations) {
    if (it.lost == 0 || !fabric_.crosses(it.path, component)) continue;
    for (std::size_t age = 0; age < lossy.size(); ++age) {
      lossy[age] = lossy[age] || flows_[it.flow].memory.recent[age].lost > 0;
    }
  }
  const auto windows = std::count(lossy.begin(), lossy.end(), true);
  return (lossy[0] || lossy[1]) && 2 * windows >= static_cast<std::ptrdiff_t>(lossy.size());
}

void FabricJudge::addBursts(Symptom& symptom, const std::vector<FlowCounts>& bursts) const {
  const GridPlan& plan = places_->plan();
  for (const FlowCounts& burst : bursts) {
    const FlowName& name = burst.flow;
    const auto probe = probeNamed(plan, name.probe);
    if (!probe) continue;
    const auto from = indexOf(plan.probes[*probe].sources, name.source);
    const auto to = indexOf(plan.probes[*probe].destinations, name.destination);
    if (!from || !to) continue;
    const auto it = std::find_if(symptom.observations.begin(), symptom.observations.end(),
                                 [&](const Observation& each) {
                                   const Flow& flow = flows_[each.flow];
                                   return flow.probe == *probe && flow.source == *from &&
                                          flow.destination == *to && flow.path == name.path;
                                 });
    if (it == symptom.observations.end()) continue;
    it->sent += burst.sent;
    it->lost += burst.lost;
  }
}

FabricJudge::Symptom FabricJudge::observeDelay(const JudgedSources& sources) {
  Symptom made;
  made.figure = Figure::kNetwork;
  made.observations.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    const Row* row = rowOf(flow, sources);
    if (row == nullptr) continue;
    FlowBaseline& baseline = flow.memory.baseline;
    baseline.take(sources[flow.probe][flow.source]->rows->window_index, row->network);
    const Exceedance& newest = baseline.newest();
    made.observations.push_back({i, flow.over, newest.samples, newest.above});
  }
  return made;
}

}  // namespace pingloom::controller
