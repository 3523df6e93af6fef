// Queries the properties of devices. It opens each device but needs no endpoint.
#pragma once

#include <optional>
#include <vector>

#include "common/address.h"
#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

// If the device cannot be queried, `problem` says why.
DeviceDetails queryDevice(ibv_device* device);

// Returns the port GID of the IPoIB interface with this address, which is the end of its hardware
// address.
std::optional<Gid> ipoibGid(const IpAddress& address);
// Parses sysfs' text "80:00:...:01" of 20 bytes.
std::optional<Gid> gidOfHardwareAddress(std::string_view text);

}  // namespace pingloom::rdma::verbs
