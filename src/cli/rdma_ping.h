// `pingloom ping rdma`: one side measures, the other listens; no controller in between.
#pragma once

#include <memory>

#include "cli/ping_session.h"
#include "common/address.h"
#include "common/error.h"

namespace pingloom::cli {

// Opens this side's device and asks the target where its endpoint is.
Result<std::unique_ptr<PingSession>> startRdmaPing(const PingRequest& request);

// Answers RDMA pings to `address` on `device` (as the agent's rdma.device), and questions for the
// endpoint on UDP `port`, until `stop` is readable.
Status listenForRdmaPings(const SocketAddress& address, const std::string& device, int stop);

}  // namespace pingloom::cli
