// Asks a host where its RDMA endpoint is, over the agents' UDP port; docs/probe-packets.md.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "plan/endpoint.h"

namespace pingloom::cli {

// Asks up to three times, half a second each, from `source`. The error says what to do.
Result<plan::Endpoint> lookUpEndpoint(const IpAddress& source, const SocketAddress& target);

}  // namespace pingloom::cli
