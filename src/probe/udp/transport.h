// The UDP transport exchanges PING, PONG and ACK with kernel timestamps. Prober and responder share
// the sockets and one thread.
#pragma once

#include <memory>

#include "common/error.h"
#include "probe/transport.h"

namespace pingloom::probe::udp {

// Binds a socket to each listen address, or to all of the host's, IPv4 and IPv6, and starts the
// thread. `context` and the objects it points to outlive the transport. Targets listen on the same
// port unless their probe names another.
Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context);

}  // namespace pingloom::probe::udp
