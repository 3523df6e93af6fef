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
                            pinglist->thresholds.at(i), pinglist->rollups.at(i),
                            plan::targetsOf(plan, spec)});
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

bool isPair(const ProbeGrid& probe, std::size_t source, std::size_t destination) {
  const IpAddress& from = probe.sources[source];
  const IpAddress& to = probe.destinations[destination];
  if (from.isV4() != to.isV4() || (!probe.spec.self && from == to)) return false;
  return probe.targets == nullptr ||
         probe.targets->contains(static_cast<std::uint32_t>(source),
                                 static_cast<std::uint32_t>(destination));
}

std::uint32_t pathsOf(const ProbeGrid& probe, std::size_t source, std::size_t destination) {
  const bool within =
      probe.targets != nullptr && probe.targets->together(static_cast<std::uint32_t>(source),
                                                          static_cast<std::uint32_t>(destination));
  return within ? 0 : probe.paths();
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
