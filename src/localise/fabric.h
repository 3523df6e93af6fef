// The components of a fabric that can be at fault, and the paths of flows over them.
//
// Components are derived from one-way paths, which are lists of nodes. The first and the last node
// of a path are hosts (one NIC each), and all between them are switches. A path gives these
// components: each directed link between known neighbours, each cable between two switches (both
// of its directions), each known switch, and both hosts. A host stands for its NIC, its cable and
// the switch port, which probes cannot tell apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "common/error.h"

namespace pingloom::localise {

using NodeId = std::uint32_t;
using ComponentId = std::uint32_t;  // dense, in the order in which components were first seen
using PathId = std::uint32_t;       // dense likewise

constexpr NodeId kUnknownNode = 0xffffffff;  // a hop that did not answer
constexpr std::size_t kMaxHops = 64;
constexpr std::size_t kMaxPaths = 1U << 22U;

enum class Kind : std::uint8_t { kLink, kCable, kSwitch, kHost };
const char* kindName(Kind kind);

struct Component {
  Kind kind = Kind::kLink;
  NodeId from = 0;       // a link's sender, a cable's lower node, or the switch or host itself
  NodeId to = 0;         // a link's receiver, a cable's higher node, or the same as `from`
  bool at_host = false;  // a host, or a link from or to one

  // Whether both are one cable or its directions, or the same node.
  bool samePart(const Component& other) const {
    return std::minmax(from, to) == std::minmax(other.from, other.to);
  }
};

// A value that one thread owns; localise() only reads it. It keeps about 8 bytes for each component
// of each path. At most kMaxPaths paths are taken.
class Fabric {
 public:
  // Adds the path of one direction, from host to host. Unknown hops are kUnknownNode, and their
  // links are unknown too. Refused: fewer than two nodes, more than kMaxHops, an unknown end.
  Result<PathId> addPath(std::span<const NodeId> nodes);
  // Adds the path of a round trip, for flows whose losses are known for both directions together.
  Result<PathId> addRoundTrip(std::span<const NodeId> forward, std::span<const NodeId> back);
  void nameNode(NodeId node, std::string name);

  std::size_t paths() const { return ends_.size(); }
  const std::vector<Component>& components() const { return components_; }
  std::span<const ComponentId> componentsOf(PathId path) const;
  bool crosses(PathId path, ComponentId component) const;
  // The hosts at the ends of a (forward) path, and the switches next to them.
  struct Ends {
    NodeId source = 0;
    NodeId destination = 0;
    NodeId first_switch = kUnknownNode;
    NodeId last_switch = kUnknownNode;
  };
  const Ends& ends(PathId path) const { return ends_[path]; }

  // For people: "leaf-2 -> spine-3", "leaf-2 - spine-3", "spine-3". Nodes without a name are
  // numbers.
  std::string name(ComponentId component) const;

 private:
  using Key = std::tuple<Kind, NodeId, NodeId>;
  ComponentId component(Kind kind, NodeId from, NodeId to, bool at_host);
  void append(std::span<const NodeId> nodes);
  PathId finish(std::span<const NodeId> forward);
  std::string nodeName(NodeId node) const;

  std::vector<Component> components_;
  std::map<Key, ComponentId> ids_;
  std::map<NodeId, std::string> names_;
  std::vector<ComponentId> of_paths_;
  std::vector<std::size_t> begins_{0};
  std::vector<Ends> ends_;
};

}  // namespace pingloom::localise
