#include "controller/redis/leftovers.h"

#include <algorithm>

#include "controller/model/grid_plan.h"
#include "controller/redis/key_updates.h"

namespace pingloom::controller {
namespace {

Status removeLeftSources(const ProbeGrid& probe, const IndexAccess& access) {
  const auto sources = access.members(RedisKeys::sourcesKey(probe.spec.name));
  if (!sources) return tl::unexpected(sources.error());
  for (const std::string& source : *sources) {
    const auto address = IpAddress::parse(source);
    const bool stays = address && address->text() == source &&
                       std::binary_search(probe.sources.begin(), probe.sources.end(), *address);
    if (stays) continue;
    Commands commands;
    RedisKeys::removeSource(probe.spec.name, source, commands);
    if (auto status = access.remove(commands); !status) return status;
  }
  return {};
}

}  // namespace

Status removeLeftovers(const GridPlan& plan, const IndexAccess& access) {
  const auto probes = access.members(std::string(RedisKeys::kProbesKey));
  if (!probes) return tl::unexpected(probes.error());
  for (const std::string& name : *probes) {
    const auto probe = probeNamed(plan, name);
    ProbeGrid gone;
    gone.spec.name = name;
    if (auto status = removeLeftSources(probe ? plan.probes[*probe] : gone, access); !status) {
      return status;
    }
    if (probe) continue;
    Commands commands;
    RedisKeys::removeProbe(name, commands);
    if (auto status = access.remove(commands); !status) return status;
  }
  return {};
}

}  // namespace pingloom::controller
