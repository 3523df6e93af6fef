#include "localise/edges.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace pingloom::localise {
namespace {

// A path inside one switch, or one with an unknown end, has no other way that we know of.
bool hasDetours(const Fabric::Ends& ends) {
  return ends.first_switch != ends.last_switch && ends.first_switch != kUnknownNode &&
         ends.last_switch != kUnknownNode;
}

std::uint64_t keyOf(const Fabric::Ends& ends) {
  return (static_cast<std::uint64_t>(ends.first_switch) << 32U) | ends.last_switch;
}

}  // namespace

Edges::Edges(const Fabric& fabric, std::span<const Observation> evidence)
    : fabric_(fabric), evidence_(evidence) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::uint32_t row = 0; row < evidence.size(); ++row) {
    const auto& ends = fabric.ends(evidence[row].path);
    if (!hasDetours(ends)) continue;
    const auto [it, added] = places.try_emplace(keyOf(ends), pairs_.size());
    if (added) pairs_.push_back({ends.first_switch, ends.last_switch, 0, {}});
    Pair& pair = pairs_[it->second];
    ++pair.all;
    if (evidence[row].lost > 0) pair.lossy.push_back(row);
  }
}

Edges::Near Edges::near(std::span<const std::uint32_t> rows) const {
  std::unordered_set<NodeId> first;
  std::unordered_set<NodeId> last;
  std::uint32_t crossing = 0;
  for (const std::uint32_t row : rows) {
    const auto& ends = fabric_.ends(evidence_[row].path);
    if (!hasDetours(ends)) continue;
    first.insert(ends.first_switch);
    last.insert(ends.last_switch);
    ++crossing;
  }
  Near near;
  for (const Pair& pair : pairs_) {
    if (!first.contains(pair.first) || !last.contains(pair.last)) continue;
    near.all += pair.all;
    for (const std::uint32_t row : pair.lossy) {
      if (!std::binary_search(rows.begin(), rows.end(), row)) near.lossy.push_back(row);
    }
  }
  near.all -= crossing;
  return near;
}

}  // namespace pingloom::localise
