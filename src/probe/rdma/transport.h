// The RDMA transport: PING, PONG and ACK between UD queue pairs, one for each address of this host
// that the plan's rdma probes name.
#pragma once

#include <memory>

#include "common/error.h"
#include "probe/transport.h"

namespace pingloom::probe::rdma_ud {

// Starts the thread; devices are opened when the plan asks for them, and an address without one is
// no error of the agent's. `context` and what it points to outlive the transport.
// REQUIRES: context.open_device.
Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context);

}  // namespace pingloom::probe::rdma_ud
