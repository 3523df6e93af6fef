// `pingloom ping rdma`: one side measures and the other listens, without a controller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/ping_session.h"
#include "common/address.h"
#include "common/error.h"

namespace pingloom::cli {

// Opens this host's device and asks the target for its endpoint.
Result<std::unique_ptr<PingSession>> startRdmaPing(const PingRequest& request);

// Answers RDMA pings to this host's addresses on `device` (in the forms of the agent's rdma.device)
// and queries for their endpoints on the UDP port `port`, until `stop` is readable. Without
// `address` it uses all addresses of the device that an agent would use.
Status listenForRdmaPings(const std::optional<IpAddress>& address, std::uint16_t port,
                          const std::string& device, int stop);

}  // namespace pingloom::cli
