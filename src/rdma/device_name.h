// Parses the name of a device in the form that configurations use.
#pragma once

#include <string_view>

#include "common/error.h"
#include "rdma/open_device.h"

namespace pingloom::rdma {

// Accepts "auto", "soft", "mlx5_0" or "mlx5_0/2"; the other options are left unchanged.
Status parseDeviceName(std::string_view text, DeviceOptions& options);

}  // namespace pingloom::rdma
