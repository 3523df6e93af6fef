#include "controller/model/grid_plan.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {

std::shared_ptr<const GridPlan> makeGridPlan(std::shared_ptr<const pinglist::Pinglist> pinglist,
                                             std::uint64_t generation) {
  auto made = std::make_shared<GridPlan>();
  made->generation = generation;
  made->hash = plan::hash(pinglist->plan);
  const plan::Plan& plan = pinglist->plan;
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    const plan::ProbeSpec& spec = plan.probes[i];
    made->probes.push_back({spec, plan.list(spec.sources), plan.list(spec.destinations),
                            pinglist->thresholds.at(i), pinglist->rollups.at(i)});
  }
  made->pinglist = std::move(pinglist);
  return made;
}

std::optional<std::uint32_t> probeNamed(const GridPlan& plan, std::string_view name) {
  for (std::uint32_t i = 0; i < plan.probes.size(); ++i) {
    if (plan.probes[i].spec.name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> indexOf(const plan::AddressList& list, const IpAddress& address) {
  const auto at = std::lower_bound(list.begin(), list.end(), address);
  if (at == list.end() || *at != address) return std::nullopt;
  return static_cast<std::uint32_t>(at - list.begin());
}

bool isPair(const ProbeGrid& probe, const IpAddress& source, const IpAddress& destination) {
  if (source.isV4() != destination.isV4()) return false;
  return probe.spec.self || source != destination;
}

bool needsAgent(const plan::ProbeSpec& probe) {
  return probe.protocol != Protocol::kTcp || probe.port == 0;
}

SwitchNames switchNames(const GridPlan& plan) {
  SwitchNames names;
  if (plan.pinglist == nullptr) return names;
  for (const pinglist::Switch& each : plan.pinglist->topology.switches) {
    for (const IpAddress& address : each.addresses) names[address] = {each.name, each.tier};
  }
  return names;
}

}  // namespace pingloom::controller
