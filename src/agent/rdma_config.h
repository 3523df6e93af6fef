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

// Reads the section, for common/config_reader.h.
Status readValue(const yaml::Node& node, RdmaConfig& config);

}  // namespace pingloom::agent
