// Chooses the device, port and GID for an endpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

// The configured choice. With an address and no device it is the port that has exactly this address
// as a RoCE v2 GID, or the InfiniBand port behind the address's IPoIB interface. With a device it
// is that device, and with RoCE the address must belong to it; on InfiniBand the address only names
// the host.
struct DeviceChoice {
  std::optional<IpAddress> address{};
  std::string device{};  // "" stands for any device
  // nullopt selects the port with the address, otherwise the first active one
  std::optional<std::uint8_t> port{};
};

// With this end the errors of a host that has no fitting device.
constexpr const char* kOrSoft = "or write 'device: soft' (for commands: --device soft)";

struct Chosen {
  const DeviceDetails* device = nullptr;  // points into the given list
  const PortDetails* port = nullptr;
  const GidDetails* gid = nullptr;
};

// `port_gid` is the GID of the IPoIB interface that has the address, if there is one. The error
// says what is wrong and what the user can do.
Result<Chosen> choose(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice,
                      const std::optional<Gid>& port_gid);

}  // namespace pingloom::rdma::verbs
