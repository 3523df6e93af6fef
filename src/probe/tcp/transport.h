// The TCP transport: connects to its targets and measures how long that takes; answers other hosts'
// probes by accepting and closing. One thread, any number of connects under way on it.
#pragma once

#include <memory>

#include "common/error.h"
#include "probe/transport.h"

namespace pingloom::probe::tcp {

// Binds the listening sockets (on each listen address, or on all of the host's, IPv4 and IPv6) and
// starts the thread. `context` and what it points to outlive the transport.
Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context);

}  // namespace pingloom::probe::tcp
