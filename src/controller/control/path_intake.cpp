#include "controller/control/path_intake.h"

#include <algorithm>
#include <utility>

#include "controller/model/grid_plan.h"
#include "wire/path_codec.h"

namespace pingloom::controller {

bool PathIntake::hasFlow(const TracedPath& path) const {
  const auto number = probeNamed(*plan_, path.probe);
  if (!number) return false;
  const ProbeGrid& probe = plan_->probes[*number];
  if (path.one_connection != (probe.spec.protocol == Protocol::kTcp)) return false;
  const auto source = indexOf(probe.sources, path.source);
  const auto destination = indexOf(probe.destinations, path.destination);
  if (!source || !destination) return false;
  const std::uint32_t paths = pathsOf(probe, *source, *destination);
  return path.path <= paths && (path.path > 0 || paths == 0) &&
         (probe.targets == nullptr || isPair(probe, *source, *destination));
}

std::optional<std::string> PathIntake::take(const Agent& agent, const wire::PathReport& report,
                                            Nanos now_utc) {
  if (static_cast<std::size_t>(report.paths_size()) > wire::kMaxReportedPaths) {
    ++counters_.refused;
    return "paths: are more than 256";
  }
  std::optional<std::string> fault;
  for (const wire::TracedPath& each : report.paths()) {
    auto path = wire::decode(each);
    if (!path || !registry_.owns(agent, path->source)) {
      ++counters_.refused;
      if (!fault) fault = path ? "path: its source is not the agent's" : path.error().text();
      continue;
    }
    if (!hasFlow(*path)) {
      ++counters_.ignored;
      continue;
    }
    path->traced = std::min(path->traced, now_utc);  // its clock may be ahead
    const bool elsewhere = !agent.info.isHere();
    const PathBoard::Taken taken = board_.publishPath(std::move(*path), elsewhere);
    ++(taken.known == nullptr ? counters_.ignored : counters_.taken);
    if (!taken.changed) continue;
    ++counters_.changed;
    if (elsewhere) continue;
    changes_.add(changeOf(*taken.known, now_utc));
  }
  return fault;
}

std::vector<PathChange> PathIntake::takeChanges(Nanos now_utc) {
  auto made = changes_.take(now_utc);
  counters_.folded = changes_.folded();
  return made;
}

void PathIntake::runDue(Instant now) {
  if (now.mono < forget_due_mono_) return;
  forget_due_mono_ = now.mono + kForgetEvery;
  board_.forgetPaths(now.utc);
}

}  // namespace pingloom::controller
