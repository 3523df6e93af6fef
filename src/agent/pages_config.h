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
  std::optional<IpAddress> address;  // whose device serves them; none: the agent's first
  std::uint16_t port = pages::kDefaultPagesPort;
  std::optional<rdma::DeviceOptions> device;  // none: as for probes
  pages::RegistrationOptions registration;
  pages::PoolLimits limits;
};

// For common/config_reader.h.
Status readValue(const yaml::Node& node, PagesConfig& config);

}  // namespace pingloom::agent
