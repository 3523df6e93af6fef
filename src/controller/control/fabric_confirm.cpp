#include "controller/control/fabric_confirm.h"

#include <utility>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

FlowCounts countsOf(const FlowName& flow, const BurstSnapshot& burst) {
  FlowCounts made{flow};
  for (const BurstPing& ping : burst.pings) {
    const bool lost = ping.fate == PingFate::kLost;
    if (!lost && ping.fate != PingFate::kReceived) continue;
    ++made.sent;
    made.lost += lost && !ping.late ? 1 : 0;
  }
  return made;
}

}  // namespace

void FabricConfirm::begin(const std::vector<FlowName>& flows, const GridPlan& plan,
                          Nanos now_mono) {
  if (flows.empty() || (rounds_ > 0 && now_mono < begun_mono_ + kPause)) return;
  begun_mono_ = now_mono;
  ++rounds_;
  bursts_.clear();
  for (const FlowName& flow : flows) {
    const auto probe = probeNamed(plan, flow.probe);
    if (!probe || bursts_.size() >= kFlows) continue;
    const Burst& burst = bursts_.emplace_back(Burst{flow});
    BurstOrder order{flow.probe,
                     flow.source,
                     flow.destination,
                     flow.path,
                     kPings,
                     kInterval,
                     plan.probes[*probe].spec.timeout};
    board_.ask(std::move(order), [answer = burst.answer](const BurstAnswer& given) {
      answer->refused = given.id == 0;  // a user's burst may be under way there
      answer->id = given.id;
    });
  }
}

bool FabricConfirm::collect(Nanos now_mono) {
  bool changed = false;
  if (!evidence_.empty() && now_mono >= expires_mono_) {
    evidence_.clear();
    changed = true;
  }
  for (Burst& burst : bursts_) {
    burst.over = burst.over || burst.answer->refused;
    if (burst.over || burst.answer->id == 0) continue;
    const auto known = board_.find(burst.answer->id);
    if (known != nullptr && known->state == BurstState::kRunning) continue;
    burst.over = true;
    if (known == nullptr || known->state != BurstState::kDone) continue;
    evidence_.push_back(countsOf(burst.flow, *known));
    expires_mono_ = now_mono + kHold;
    changed = true;
  }
  return changed;
}

}  // namespace pingloom::controller
