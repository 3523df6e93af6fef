// Asks devices what they are. Opens each for that; no endpoint is needed.
#pragma once

#include <optional>
#include <vector>

#include "common/address.h"
#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

// One that cannot be asked says so in `problem`.
DeviceDetails queryDevice(ibv_device* device);

// The port GID of the IPoIB interface that has this address: the end of its hardware address.
std::optional<Gid> ipoibGid(const IpAddress& address);
// From sysfs' text "80:00:...:01" of 20 bytes.
std::optional<Gid> gidOfHardwareAddress(std::string_view text);

}  // namespace pingloom::rdma::verbs
