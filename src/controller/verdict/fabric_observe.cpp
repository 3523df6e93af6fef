// What the newest windows and bursts show of each flow.
#include <algorithm>
#include <array>

#include "controller/model/grid_plan.h"
#include "controller/verdict/fabric_judge.h"

namespace pingloom::controller {
namespace {

using localise::ComponentId;
using localise::Observation;

// What a flow lost on the way there, or back. REQUIRES: they are known apart.
std::uint32_t lostThere(const RecentCounts::Counts& counts) { return counts.sent - counts.arrived; }
std::uint32_t lostBack(const RecentCounts::Counts& counts) {
  return counts.arrived - (counts.sent - counts.lost);
}

}  // namespace

// The row of a flow in its source's newest window. It has no window if it says nothing about the
// network.
PackedRow FabricJudge::rowOf(const Flow& flow, const JudgedSources& sources) const {
  if (flow.probe >= sources.size() || flow.source >= sources[flow.probe].size()) return {};
  const SourceSnapshot& snapshot = *sources[flow.probe][flow.source];
  if (snapshot.rows == nullptr || snapshot.severityOf(flow.destination) == Severity::kNone) {
    return {};
  }
  const Rows* rows = snapshot.rows->ofPath(flow.path);
  if (rows == nullptr || flow.destination >= rows->size()) return {};
  return rows->packed(flow.destination);
}

// What was refused never crossed the fabric to its end, and what found no way never left. A late
// answer was not lost. The other end's row of the same window tells how many PINGs arrived there.
// An agent that does not count arrivals does not mark its own PINGs for the other end either, so
// both rows must have a count.
RecentCounts::Counts FabricJudge::countsOf(const Flow& flow, const JudgedSources& sources,
                                           const RowCounts& row) const {
  RecentCounts::Counts made;
  made.sent = row.received + row.lost;
  made.lost = row.lost - std::min(row.lost, row.late);
  if (!row.inbound || !flow.reverse || flow.reverse->source >= sources[flow.probe].size()) {
    return made;
  }
  const SourceSnapshot& other = *sources[flow.probe][flow.reverse->source];
  const std::uint64_t window = sources[flow.probe][flow.source]->rows->window_index;
  if (other.rows == nullptr || other.rows->window_index != window) return made;
  const Rows* rows = other.rows->ofPath(flow.path);
  if (rows == nullptr || flow.reverse->destination >= rows->size()) return made;
  const auto arrived = rows->packed(flow.reverse->destination).counts().inbound;
  if (arrived && *arrived <= made.sent && *arrived >= made.sent - made.lost) {
    made.arrived = *arrived;
  }
  return made;
}

// If the path back is not known, what was lost there accuses nothing.
void FabricJudge::observe(Symptom& symptom, std::uint32_t number,
                          const RecentCounts::Counts& counts) const {
  const Flow& flow = flows_[number];
  if (!counts.apart()) {
    symptom.observations.push_back({number, flow.over, counts.sent, counts.lost});
    return;
  }
  symptom.observations.push_back({number, flow.there, counts.sent, lostThere(counts)});
  if (!flow.back) return;
  symptom.observations.push_back(
      {number, *flow.back, counts.arrived, lostBack(counts), fabric_.ends(flow.there).source});
}

FabricJudge::Symptom FabricJudge::observeLoss(const Evidence& evidence) {
  Symptom made;
  made.observations.reserve(2 * flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    const PackedRow row = rowOf(flow, evidence.sources);
    if (!row.hasWindow()) continue;
    const RecentCounts::Counts counts = countsOf(flow, evidence.sources, row.counts());
    made.flows.push_back(i);
    observe(made, i, counts);
    flow.memory.recent.take(evidence.sources[flow.probe][flow.source]->rows->window_index, counts);
  }
  addBursts(made, evidence.bursts);
  return made;
}

// The newest windows together show what loses too little for one. Paths through what is accused
// already say nothing new.
FabricJudge::Symptom FabricJudge::observeLongLoss(const Symptom& loss,
                                                  const Accused& accused) const {
  Symptom made;
  made.is_long = true;
  made.observations.reserve(loss.observations.size());
  for (const std::uint32_t flow : loss.flows) {
    observe(made, flow, flows_[flow].memory.recent.sum());
  }
  std::erase_if(made.observations, [&](const Observation& it) {
    return std::any_of(accused.begin(), accused.end(),
                       [&](ComponentId component) { return fabric_.crosses(it.path, component); });
  });
  return made;
}

void FabricJudge::note(const Accused& accused, const Symptom& loss) {
  for (const std::uint32_t number : loss.flows) {
    Flow& flow = flows_[number];
    if (std::any_of(accused.begin(), accused.end(),
                    [&](ComponentId component) { return fabric_.crosses(flow.over, component); })) {
      flow.memory.recent.accuse();
    }
  }
}

// Whether the losses through a component go on: they are in at least half of the windows, and in
// one of the newest two. Otherwise they are those of a fault that has ended. What the flows lose on
// their other way says nothing of that.
bool FabricJudge::lasts(ComponentId component, const Symptom& loss) const {
  std::array<bool, RecentCounts::kWindows> lossy{};
  for (const Observation& it : loss.observations) {
    if (it.lost == 0 || !fabric_.crosses(it.path, component)) continue;
    const Flow& flow = flows_[it.flow];
    for (std::size_t age = 0; age < lossy.size(); ++age) {
      const RecentCounts::Counts& counts = flow.memory.recent[age];
      std::uint32_t lost = counts.lost;
      if (counts.apart() && it.path == flow.there) lost = lostThere(counts);
      if (counts.apart() && flow.back && it.path == *flow.back) lost = lostBack(counts);
      lossy[age] = lossy[age] || lost > 0;
    }
  }
  const auto windows = std::count(lossy.begin(), lossy.end(), true);
  return (lossy[0] || lossy[1]) && 2 * windows >= static_cast<std::ptrdiff_t>(lossy.size());
}

// A burst tells nothing of the two ways apart.
void FabricJudge::addBursts(Symptom& symptom, const std::vector<FlowCounts>& bursts) const {
  const GridPlan& plan = places_->plan();
  for (const FlowCounts& burst : bursts) {
    const FlowName& name = burst.flow;
    const auto probe = probeNamed(plan, name.probe);
    if (!probe) continue;
    const auto from = indexOf(plan.probes[*probe].sources, name.source);
    const auto to = indexOf(plan.probes[*probe].destinations, name.destination);
    if (!from || !to) continue;
    const auto it =
        std::find_if(symptom.flows.begin(), symptom.flows.end(), [&](std::uint32_t each) {
          const Flow& flow = flows_[each];
          return flow.probe == *probe && flow.source == *from && flow.destination == *to &&
                 flow.path == name.path;
        });
    if (it == symptom.flows.end()) continue;
    symptom.observations.push_back({*it, flows_[*it].over, burst.sent, burst.lost});
  }
}

FabricJudge::Symptom FabricJudge::observeDelay(const JudgedSources& sources) {
  Symptom made;
  made.figure = Figure::kNetwork;
  made.observations.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    const PackedRow row = rowOf(flow, sources);
    if (!row.hasWindow()) continue;
    FlowBaseline& baseline = flow.memory.baseline;
    baseline.take(sources[flow.probe][flow.source]->rows->window_index,
                  row.part(RowPart::kNetwork));
    const Exceedance& newest = baseline.newest();
    made.observations.push_back({i, flow.over, newest.samples, newest.above});
  }
  return made;
}

}  // namespace pingloom::controller
