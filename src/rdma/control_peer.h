// Ties an RC endpoint to the control connection that asked for it. Any thread.
#pragma once

#include <optional>

#include "common/address.h"
#include "common/error.h"
#include "rdma/device.h"
#include "rdma/rc_endpoint.h"

namespace pingloom::rdma {

// Returns the address of the endpoint `peer` if that has to be compared with the address of the
// control connection on which it arrived. InfiniBand's GIDs are no IP addresses.
std::optional<IpAddress> addressToCheck(const DeviceInfo& device, const RcAddress& peer);

// Checks that the endpoint `peer`, which arrived on a connection from `control`, is at that
// address. Otherwise anybody could name somebody else's address and direct READ responses there.
Status checkControlPeer(const DeviceInfo& device, const RcAddress& peer, const IpAddress& control);

}  // namespace pingloom::rdma
