// Converts the address of an RC endpoint from and to its message (wire/pages.proto). Any thread.
#pragma once

#include <optional>

#include "rdma/rc_endpoint.h"

namespace pingloom::wire {
class RcEndpoint;
}

namespace pingloom::rdma {

void writeEndpoint(const RcAddress& address, wire::RcEndpoint& out);
// Returns nullopt if a field has a value that no endpoint can have.
std::optional<RcAddress> readEndpoint(const wire::RcEndpoint& endpoint);

}  // namespace pingloom::rdma
