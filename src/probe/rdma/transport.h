// The RDMA transport exchanges PING, PONG and ACK between UD queue pairs. It has one for each
// address of this host that the plan's rdma probes name.
#pragma once

#include <memory>

#include "common/error.h"
#include "probe/transport.h"

namespace pingloom::probe::rdma_ud {

// Starts the thread. Devices are opened when the plan needs them, and an address without a device
// is no error here. `context` and the objects it points to outlive the transport. REQUIRES:
// context.open_device.
Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context);

}  // namespace pingloom::probe::rdma_ud
