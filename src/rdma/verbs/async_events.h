// What a device says outside its completion queues: ports, the device itself, queues in error.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

// Makes the context's descriptor of asynchronous events one that never waits.
Status makeEventsNonBlocking(ibv_context* context);

// Why an endpoint on this port and GID cannot go on after the event; "" where it can.
std::string meaning(ibv_context* context, const ibv_async_event& event, std::uint8_t port,
                    const GidDetails& gid);

// Takes all events there are. An error: what an endpoint on this port and GID stood on is no longer
// there, with the reason.
Status takeAsyncEvents(ibv_context* context, std::uint8_t port, const GidDetails& gid);

}  // namespace pingloom::rdma::verbs
