// RC queue pairs.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/rc_endpoint.h"
#include "rdma/verbs/handles.h"
#include "rdma/verbs/opened_device.h"
#include "rdma/verbs/queue_pair.h"

namespace pingloom::rdma::verbs {

// In state RESET.
Result<QueuePairHandle> createRcQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity);
// RESET to INIT: receives may be posted.
Status initialiseRc(ibv_qp* queue_pair, std::uint8_t port, const RcOptions& options,
                    const std::string& entity);

struct RcConnection {
  RcAddress own;
  RcAddress peer;
  RcOptions options;
  PathDefaults path;
  std::uint32_t reads = 0;  // READs and atomics that this side may have under way
};
// INIT to ready to send, by way of ready to receive. May take a second or two: the kernel looks up
// the way to the peer.
Status connectRc(ibv_qp* queue_pair, const RcConnection& connection, const std::string& entity);

// To error: what is under way ends, nothing more is sent or answered.
void stop(ibv_qp* queue_pair);

}  // namespace pingloom::rdma::verbs
