// The RDMA endpoint of an address, on its way from the controller with which its agent is
// registered to the others.
#pragma once

#include <optional>

#include "common/address.h"
#include "plan/endpoint.h"

namespace pingloom::controller {

struct SharedAddress {
  IpAddress address;
  std::optional<plan::Endpoint> endpoint;  // nullopt: none (any more)
};

}  // namespace pingloom::controller
