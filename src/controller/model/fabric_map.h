// The switches of a fabric and the links between them, as the traced paths show them. A switch has
// an address for each of its links, so addresses that must be one switch are merged
// (docs/paths.md). Immutable once made; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/address.h"
#include "controller/model/path_board.h"

namespace pingloom::controller {

// What the pinglist's topology says of the switch that has an address.
struct SwitchName {
  std::string name;
  std::uint32_t tier = 0;  // 0: it does not say
};
using SwitchNames = std::unordered_map<IpAddress, SwitchName, IpAddressHash>;

struct FabricMap {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Switch {
    std::string name;                  // the topology's, otherwise its lowest address
    std::vector<IpAddress> addresses;  // ascending
    // The topology's; otherwise routers between it and the nearest host, and itself: 1 next to
    // hosts.
    std::uint32_t tier = 0;
    bool named = false;  // whether the topology names it
  };
  // A direction of a link. Parallel links between two switches are one here.
  struct Link {
    std::uint32_t from = 0;  // numbers of switches
    std::uint32_t to = 0;
    std::uint32_t flows = 0;  // that take it
  };

  std::vector<Switch> switches;  // ordered by tier, then by name
  std::vector<Link> links;       // ordered by their ends
  std::unordered_map<IpAddress, std::uint32_t, IpAddressHash> switch_of;
  std::uint64_t version = 0;  // PathBoard::version() when it was made
  // False if routers answer from other addresses than those that packets arrive at. Then only the
  // switches next to hosts and those that the topology names are merged.
  bool merged = true;

  std::uint32_t at(const IpAddress& router) const {
    const auto found = switch_of.find(router);
    return found == switch_of.end() ? kNone : found->second;
  }
  std::string nameOf(const IpAddress& router) const {
    const std::uint32_t number = at(router);
    return number == kNone ? std::string() : switches[number].name;
  }
};

// `version` is that of the board when it had these paths.
std::shared_ptr<const FabricMap> mapFabric(const KnownPaths& paths, std::uint64_t version,
                                           const SwitchNames& names);

}  // namespace pingloom::controller
