// Converts endpoints from and to wire/pages.proto, for agents and collectors.
#pragma once

#include <optional>

#include "rdma/rc_endpoint.h"

namespace pingloom::wire {
class RcEndpoint;
}

namespace pingloom::pages {

constexpr std::uint32_t kPageControlVersion = 1;

void writeEndpoint(const rdma::RcAddress& address, wire::RcEndpoint& out);
// Returns nullopt if a field has a value that no endpoint can have.
std::optional<rdma::RcAddress> readEndpoint(const wire::RcEndpoint& endpoint);

}  // namespace pingloom::pages
