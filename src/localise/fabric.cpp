#include "localise/fabric.h"

#include <algorithm>

namespace pingloom::localise {
namespace {

Status checkPath(std::span<const NodeId> nodes) {
  if (nodes.size() < 2) return makeError("path", "it has fewer than two nodes");
  if (nodes.size() > kMaxHops) return makeError("path", "it has more than 64 nodes");
  if (nodes.front() == kUnknownNode || nodes.back() == kUnknownNode) {
    return makeError("path", "one of its hosts is unknown");
  }
  return {};
}

}  // namespace

const char* kindName(Kind kind) {
  switch (kind) {
    case Kind::kLink:
      return "link";
    case Kind::kCable:
      return "cable";
    case Kind::kSwitch:
      return "switch";
    case Kind::kHost:
      return "host";
  }
  return "";
}

Result<PathId> Fabric::addPath(std::span<const NodeId> nodes) {
  if (auto status = checkPath(nodes); !status) return tl::make_unexpected(status.error());
  if (paths() >= kMaxPaths) return makeError("path", "the fabric has too many paths");
  append(nodes);
  return finish(nodes);
}

Result<PathId> Fabric::addRoundTrip(std::span<const NodeId> forward, std::span<const NodeId> back) {
  for (const auto nodes : {forward, back}) {
    if (auto status = checkPath(nodes); !status) return tl::make_unexpected(status.error());
  }
  if (paths() >= kMaxPaths) return makeError("path", "the fabric has too many paths");
  append(forward);
  append(back);
  return finish(forward);
}

void Fabric::nameNode(NodeId node, std::string name) { names_[node] = std::move(name); }

std::span<const ComponentId> Fabric::componentsOf(PathId path) const {
  return std::span(of_paths_).subspan(begins_[path], begins_[path + 1] - begins_[path]);
}

bool Fabric::crosses(PathId path, ComponentId component) const {
  const auto on = componentsOf(path);
  return std::binary_search(on.begin(), on.end(), component);
}

std::string Fabric::name(ComponentId component) const {
  const Component& it = components_[component];
  if (it.kind == Kind::kLink) return nodeName(it.from) + " -> " + nodeName(it.to);
  if (it.kind == Kind::kCable) return nodeName(it.from) + " - " + nodeName(it.to);
  return nodeName(it.from);
}

ComponentId Fabric::component(Kind kind, NodeId from, NodeId to, bool at_host) {
  const auto next = static_cast<ComponentId>(components_.size());
  const auto [it, added] = ids_.try_emplace({kind, from, to}, next);
  if (added) components_.push_back({kind, from, to, at_host});
  return it->second;
}

void Fabric::append(std::span<const NodeId> nodes) {
  const std::size_t last = nodes.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const NodeId from = nodes[i];
    const NodeId to = nodes[i + 1];
    if (from == kUnknownNode || to == kUnknownNode) continue;
    const bool at_host = i == 0 || i + 1 == last;
    of_paths_.push_back(component(Kind::kLink, from, to, at_host));
    if (at_host) continue;
    of_paths_.push_back(component(Kind::kCable, std::min(from, to), std::max(from, to), false));
  }
  for (std::size_t i = 1; i < last; ++i) {
    if (nodes[i] == kUnknownNode) continue;
    of_paths_.push_back(component(Kind::kSwitch, nodes[i], nodes[i], false));
  }
  of_paths_.push_back(component(Kind::kHost, nodes.front(), nodes.front(), true));
  of_paths_.push_back(component(Kind::kHost, nodes.back(), nodes.back(), true));
}

PathId Fabric::finish(std::span<const NodeId> forward) {
  // A loop or a round trip passes a component more than once, and its probes count once.
  const auto begin = of_paths_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
  std::sort(begin, of_paths_.end());
  of_paths_.erase(std::unique(begin, of_paths_.end()), of_paths_.end());
  begins_.push_back(of_paths_.size());
  Ends ends{forward.front(), forward.back()};
  if (forward.size() > 2) {
    ends.first_switch = forward[1];
    ends.last_switch = forward[forward.size() - 2];
  }
  ends_.push_back(ends);
  return static_cast<PathId>(ends_.size() - 1);
}

std::string Fabric::nodeName(NodeId node) const {
  const auto it = names_.find(node);
  return it == names_.end() ? std::to_string(node) : it->second;
}

}  // namespace pingloom::localise
