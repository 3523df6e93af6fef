// The TCP transport measures how long connects to its targets take. It answers other hosts' probes
// by accepting and closing them. One thread, with any number of connects in flight.
#pragma once

#include <memory>

#include "common/error.h"
#include "probe/transport.h"

namespace pingloom::probe::tcp {

// Binds a socket to each listen address, or to all of the host's, IPv4 and IPv6, and starts the
// thread. `context` and the objects it points to outlive the transport.
Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context);

}  // namespace pingloom::probe::tcp
