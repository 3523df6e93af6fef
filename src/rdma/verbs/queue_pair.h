// Creates UD queue pairs and changes their state.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

constexpr std::uint32_t kPsnMask =
    0xFFFFFF;  // sequence numbers have 24 bits, like queue pair numbers

struct QueueDepths {
  std::uint32_t send = 0;
  std::uint32_t receive = 0;
};

// Creates a queue pair in state RESET. On failure `refused` tells whether the driver does not
// support it at all.
Result<QueuePairHandle> createUdQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity,
                                          bool& refused);
// Moves the queue pair from RESET to INIT, in which receives may be posted.
Status initialise(ibv_qp* queue_pair, std::uint8_t port, std::uint16_t p_key_index,
                  std::uint32_t q_key, const std::string& entity);
// Moves the queue pair from INIT through ready-to-receive to ready-to-send. The first PSN is
// random.
Status makeReady(ibv_qp* queue_pair, const std::string& entity);
// Returns false if it is in error or its state cannot be queried.
bool isReady(ibv_qp* queue_pair);

}  // namespace pingloom::rdma::verbs
