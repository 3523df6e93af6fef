// The `rdma:` section of the agent's configuration. A plain value; any thread.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "rdma/device.h"
#include "rdma/open_device.h"

namespace pingloom::agent {

struct RdmaConfig {
  rdma::DeviceOptions device;
  rdma::UdOptions endpoint;
};

Result<RdmaConfig> parseRdmaConfig(const yaml::Node& node);

}  // namespace pingloom::agent
