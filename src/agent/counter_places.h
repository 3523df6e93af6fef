// Which network interfaces and RDMA ports the agent's addresses use. Pure but for the reading of
// sysfs; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/address.h"

namespace pingloom::agent {

struct RdmaPortPlace {
  std::string device;
  std::uint32_t port = 0;

  auto operator<=>(const RdmaPortPlace&) const = default;
};

struct CounterPlaces {
  static constexpr std::size_t kMaxInterfaces = 32;
  static constexpr std::size_t kMaxRdmaPorts = 32;

  std::vector<std::string> interfaces;  // sorted, as is `rdma_ports`
  std::vector<RdmaPortPlace> rdma_ports;
};

// Returns the interfaces that have the addresses.
std::vector<std::string> interfacesOf(const std::vector<IpAddress>& addresses);

// Adds the interfaces below the given ones (the members of a bond, the parent of a VLAN) and the
// RDMA ports that belong to any of them. `sysfs` is /sys except in tests. What a device does not
// show is left out.
CounterPlaces counterPlaces(const std::filesystem::path& sysfs,
                            const std::vector<std::string>& interfaces);

}  // namespace pingloom::agent
