// States what agents and collectors agree on besides their messages (wire/pages.proto), and
// converts endpoints from and to those.
#pragma once

#include <optional>

#include "rdma/rc_endpoint.h"

namespace pingloom::wire {
class RcEndpoint;
}

namespace pingloom::pages {

constexpr std::uint32_t kPageControlVersion = 1;
constexpr std::uint16_t kDefaultPagesPort = 20714;
constexpr std::size_t kMaxCollectorName = 253;  // bytes

void writeEndpoint(const rdma::RcAddress& address, wire::RcEndpoint& out);
// Returns nullopt if a field has a value that no endpoint can have.
std::optional<rdma::RcAddress> readEndpoint(const wire::RcEndpoint& endpoint);

}  // namespace pingloom::pages
