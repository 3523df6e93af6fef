// Asks a host for its RDMA endpoint over the agents' UDP port; see docs/probe-packets.md.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "plan/endpoint.h"

namespace pingloom::cli {

// Asks up to three times from `source`, and waits half a second each time. The error says what the
// user can do.
Result<plan::Endpoint> lookUpEndpoint(const IpAddress& source, const SocketAddress& target);

}  // namespace pingloom::cli
