// The name of a device as configurations write it.
#pragma once

#include <string_view>

#include "common/error.h"
#include "rdma/open_device.h"

namespace pingloom::rdma {

// "auto", "soft", "mlx5_0" or "mlx5_0/2"; the rest of the options stays as it is.
Status parseDeviceName(std::string_view text, DeviceOptions& options);

}  // namespace pingloom::rdma
