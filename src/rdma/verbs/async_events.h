// Asynchronous events of a device: ports, the device itself, queues in error.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

// Makes the context's descriptor of asynchronous events non-blocking.
Status makeEventsNonBlocking(ibv_context* context);

// Returns why an endpoint on this port and GID cannot continue after the event, or "" if it can.
std::string meaning(ibv_context* context, const ibv_async_event& event, std::uint8_t port,
                    const GidDetails& gid);

// Takes all pending events. Returns an error with the reason if an endpoint on this port and GID
// cannot continue.
Status takeAsyncEvents(ibv_context* context, std::uint8_t port, const GidDetails& gid);

}  // namespace pingloom::rdma::verbs
