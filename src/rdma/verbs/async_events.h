// What a device says outside its completion queues: ports, the device itself, queues in error.
#pragma once

#include <cstdint>

#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

// Makes the context's descriptor of asynchronous events one that never waits.
Status makeEventsNonBlocking(ibv_context* context);

// Takes all events there are. An error: what an endpoint on this port and GID stood on is no longer
// there, with the reason.
Status takeAsyncEvents(ibv_context* context, std::uint8_t port, const GidDetails& gid);

}  // namespace pingloom::rdma::verbs
