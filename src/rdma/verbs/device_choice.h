// Which device, port and GID an endpoint is made on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "rdma/device_details.h"

namespace pingloom::rdma::verbs {

// As configured. With an address and no device: the port that has this very address as a RoCE v2
// GID, or the InfiniBand port behind the address's IPoIB interface. With a device: that one, and
// the address must be its own (RoCE); on InfiniBand the address only names the host.
struct DeviceChoice {
  std::optional<IpAddress> address{};
  std::string device{};                // "": any
  std::optional<std::uint8_t> port{};  // none: the one with the address, otherwise the first active
};

struct Chosen {
  const DeviceDetails* device = nullptr;  // into the list given
  const PortDetails* port = nullptr;
  const GidDetails* gid = nullptr;
};

// `port_gid`: the GID of the IPoIB interface that has the address, if there is one. The error says
// what is wrong and what to do.
Result<Chosen> choose(const std::vector<DeviceDetails>& devices, const DeviceChoice& choice,
                      const std::optional<Gid>& port_gid);

}  // namespace pingloom::rdma::verbs
