// Endpoints as wire/pages.proto has them. Used by agents and collectors.
#pragma once

#include <optional>

#include "rdma/rc_endpoint.h"

namespace pingloom::wire {
class RcEndpoint;
}

namespace pingloom::pages {

constexpr std::uint32_t kPageControlVersion = 1;

void writeEndpoint(const rdma::RcAddress& address, wire::RcEndpoint& out);
// nullopt: a number that no endpoint has.
std::optional<rdma::RcAddress> readEndpoint(const wire::RcEndpoint& endpoint);

}  // namespace pingloom::pages
