// The `pages:` section of the agent's configuration. A plain value; any thread.
#pragma once

#include <optional>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "pages/page_messages.h"
#include "pages/page_service.h"

namespace pingloom::agent {

struct PagesConfig {
  // the address whose device serves them; by default the agent's first
  std::optional<IpAddress> address;
  std::uint16_t port = pages::kDefaultPagesPort;
  std::optional<rdma::DeviceOptions> device;  // by default the same as for probes
  pages::RegistrationOptions registration;
  pages::PoolLimits limits;
  bool system = false;  // whether the agent shows the host's own metrics on pages
};

// Reads the section, for common/config_reader.h.
Status readValue(const yaml::Node& node, PagesConfig& config);

}  // namespace pingloom::agent
