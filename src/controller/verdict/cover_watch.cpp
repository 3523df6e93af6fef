#include "controller/verdict/cover_watch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

// The probes that sample and whose links can be covered, by name.
std::unordered_map<std::string_view, const ProbeGrid*> sampledProbes(const GridPlan& plan) {
  std::unordered_map<std::string_view, const ProbeGrid*> made;
  for (const ProbeGrid& probe : plan.probes) {
    // The connections of a TCP pair take many paths, of which one was traced.
    if (probe.spec.protocol == Protocol::kTcp) continue;
    if (probe.targets != nullptr) made[probe.spec.name] = &probe;
  }
  return made;
}

plan::TracedFlow tracedFlow(const TracedPath& path, const FabricMap& map, std::uint32_t source,
                            std::uint32_t destination) {
  plan::TracedFlow made{source, destination, {}, path.end == PathEnd::kReached};
  made.switches.reserve(path.hops.size());
  for (const PathHop& hop : path.hops) {
    const std::uint32_t at = hop.isKnown() ? map.at(hop.router) : FabricMap::kNone;
    made.switches.push_back(at == FabricMap::kNone ? plan::TracedFlow::kUnknown : at);
  }
  return made;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> chosenBefore(const ProbeGrid& probe) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> made;
  for (const auto& [source, destination] : probe.spec.extra) {
    const auto from = indexOf(probe.sources, source);
    const auto to = indexOf(probe.destinations, destination);
    if (from && to) made.emplace_back(*from, *to);
  }
  return made;
}

FabricCover::Probe shown(const plan::CoverQuestion& question, const plan::CoverAnswer& answer,
                         const FabricMap& map, const std::string& name) {
  FabricCover::Probe made{name, question.cover,        question.flows.size(), answer.links.size(),
                          0,    question.chosen.size()};
  for (const plan::LinkCover& link : answer.links) {
    if (link.state == plan::CoverState::kCovered) {
      ++made.covered;
    } else {
      made.few.push_back(
          {map.switches[link.from].name, map.switches[link.to].name, link.flows, link.state});
    }
  }
  std::stable_sort(made.few.begin(), made.few.end(),
                   [](const auto& a, const auto& b) { return a.flows < b.flows; });
  if (made.few.size() > FabricCover::kMaxListed) made.few.resize(FabricCover::kMaxListed);
  return made;
}

}  // namespace

CoverWatch::Seen CoverWatch::look(const std::shared_ptr<const GridPlan>& plan, const FabricMap& map,
                                  const KnownPaths& paths, Nanos now_mono) {
  const auto sampled = sampledProbes(*plan);
  if (sampled.empty()) return {};
  std::size_t traced = 0;
  for (const auto& known : paths) traced += sampled.contains(known->path.probe) ? 1 : 0;
  if (plan->generation != generation_ || traced != traced_) {
    generation_ = plan->generation;
    traced_ = traced;
    since_mono_ = now_mono;
    chose_ = false;
  }
  const bool moved = map.version != chose_version_ && now_mono - chose_mono_ >= kAgain;
  const bool choose = (!chose_ || moved) && traced > 0 && now_mono - since_mono_ >= kSettle;
  if (!choose && (map.version == version_ || now_mono - looked_mono_ < kPause)) return {};
  version_ = map.version;
  looked_mono_ = now_mono;
  std::unordered_map<std::string_view, plan::CoverQuestion> questions;
  for (const auto& known : paths) {
    const TracedPath& path = known->path;
    const auto probe = sampled.find(path.probe);
    if (probe == sampled.end()) continue;
    const auto from = indexOf(probe->second->sources, path.source);
    const auto to = indexOf(probe->second->destinations, path.destination);
    if (!from || !to || !isPair(*probe->second, *from, *to)) continue;
    questions[probe->first].flows.push_back(tracedFlow(path, map, *from, *to));
  }
  Seen seen;
  auto cover = std::make_shared<FabricCover>();
  for (const ProbeGrid& probe : plan->probes) {
    const auto found = questions.find(probe.spec.name);
    const auto sampling = plan->pinglist->samplings.find(probe.spec.name);
    if (found == questions.end() || sampling == plan->pinglist->samplings.end()) continue;
    plan::CoverQuestion& question = found->second;
    question.targets = probe.targets.get();
    question.members = &probe.destinations;
    question.across = probe.spec.across;
    question.paths = probe.spec.paths;
    question.cover = sampling->second.cover;
    question.chosen = chosenBefore(probe);
    const plan::CoverAnswer answer = plan::coverLinks(question);
    cover->probes.push_back(shown(question, answer, map, probe.spec.name));
    if (!choose || answer.pairs.empty()) continue;
    CoverPairs& chosen = seen.chosen.emplace_back(CoverPairs{probe.spec.name, {}});
    for (const auto& [source, destination] : answer.pairs) {
      chosen.pairs.emplace_back(probe.sources[source], probe.destinations[destination]);
    }
  }
  if (choose) {
    chose_ = true;
    chose_mono_ = now_mono;
    chose_version_ = map.version;
  }
  seen.cover = std::move(cover);
  return seen;
}

}  // namespace pingloom::controller
