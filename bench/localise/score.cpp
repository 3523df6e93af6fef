#include "score.h"

#include <algorithm>

namespace pingloom::bench {
namespace {

using localise::Kind;

std::set<Key> namesOfHost(const Topology& topology, NodeId host) {
  const NodeId tor = topology.torOf(host);
  return {{Kind::kHost, host, host}, {Kind::kLink, host, tor}, {Kind::kLink, tor, host}};
}

// The components that name the same thing for who repairs it.
std::set<Key> accepted(const World& world, const Key& key, bool links_only) {
  const auto& [kind, a, b] = key;
  const Topology& topology = world.topology();
  if (topology.isHost(a) || topology.isHost(b)) return namesOfHost(topology, std::min(a, b));
  std::set<Key> names = {key};
  if (kind != Kind::kSwitch) {
    const auto [low, high] = std::minmax(a, b);
    names.insert({{Kind::kCable, low, high}, {Kind::kLink, a, b}, {Kind::kLink, b, a}});
  } else if (links_only) {
    for (const auto& component : world.truth().components()) {
      const bool touches = component.from == a || component.to == a;
      if (component.kind == Kind::kLink && touches) names.insert(keyOf(component));
    }
  }
  return names;
}

}  // namespace

void Score::add(const World& world, const std::vector<Answer>& answers, bool links_only) {
  const auto& components = world.window().fabric->components();
  std::vector<std::set<Key>> names;
  std::set<Key> all;
  for (const Fault& fault : world.faults()) {
    names.push_back(accepted(world, fault.key, links_only));
    all.insert(names.back().begin(), names.back().end());
  }
  std::set<Key> neutral;  // a noisy host does lose
  for (NodeId host = 0; host < world.noisy().size(); ++host) {
    if (world.noisy()[host]) neutral.merge(namesOfHost(world.topology(), host));
  }
  std::vector<bool> named(names.size(), false);
  bool alarm = false;
  for (const Answer& answer : answers) {
    const Key key = keyOf(components[answer.component]);
    if (neutral.contains(key) && !all.contains(key)) continue;
    alarm = true;
    std::optional<std::size_t> hit;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool in_set = std::any_of(answer.set.begin(), answer.set.end(), [&](auto id) {
        return names[i].contains(keyOf(components[id]));
      });
      if (!names[i].contains(key) && !in_set) continue;
      named[i] = true;
      if (!hit || world.faults()[i].key == key) hit = i;
    }
    ++(hit ? right : wrong);
    if (!hit) continue;
    const Key& truth = world.faults()[*hit].key;
    exact += truth == key ? 1 : 0;
    kind += std::get<0>(truth) == std::get<0>(key) ? 1 : 0;
    set += answer.set.size();
  }
  faults += names.size();
  found += static_cast<std::uint64_t>(std::count(named.begin(), named.end(), true));
  clean += names.empty() ? 1 : 0;
  alarms += names.empty() && alarm ? 1 : 0;
}

}  // namespace pingloom::bench
