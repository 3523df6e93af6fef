// Creates RC queue pairs and changes their state.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/rc_endpoint.h"
#include "rdma/verbs/handles.h"
#include "rdma/verbs/opened_device.h"
#include "rdma/verbs/queue_pair.h"

namespace pingloom::rdma::verbs {

// Creates a queue pair in state RESET.
Result<QueuePairHandle> createRcQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity);
// Moves the queue pair from RESET to INIT, in which receives may be posted.
Status initialiseRc(ibv_qp* queue_pair, std::uint8_t port, const RcOptions& options,
                    const std::string& entity);

struct RcConnection {
  RcAddress own;
  RcAddress peer;
  RcOptions options;
  PathDefaults path;
  std::uint32_t reads = 0;  // maximum READs and atomics of this side in flight
};
// Moves the queue pair from INIT through ready-to-receive to ready-to-send. May block for a second
// or two while the kernel resolves the path to the peer.
Status connectRc(ibv_qp* queue_pair, const RcConnection& connection, const std::string& entity);

// Moves the queue pair to the error state: requests in flight complete, and nothing more is sent or
// answered.
void stop(ibv_qp* queue_pair);

}  // namespace pingloom::rdma::verbs
