// `pingloom ping rdma`: one side measures, the other listens; no controller in between.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/ping_session.h"
#include "common/address.h"
#include "common/error.h"

namespace pingloom::cli {

// Opens this side's device and asks the target where its endpoint is.
Result<std::unique_ptr<PingSession>> startRdmaPing(const PingRequest& request);

// Answers RDMA pings to this host's addresses on `device` (as the agent's rdma.device), and
// questions for their endpoints on UDP `port`, until `stop` is readable. Without `address` at all
// addresses that the device has, of those an agent would take for its own.
Status listenForRdmaPings(const std::optional<IpAddress>& address, std::uint16_t port,
                          const std::string& device, int stop);

}  // namespace pingloom::cli
