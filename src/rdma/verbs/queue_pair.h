// UD queue pairs.
#pragma once

#include <cstdint>
#include <string>

#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

constexpr std::uint32_t kPsnMask =
    0xFFFFFF;  // sequence numbers have 24 bits, as queue pair numbers

struct QueueDepths {
  std::uint32_t send = 0;
  std::uint32_t receive = 0;
};

// In state RESET. `refused`, where it fails: whether the driver does not support it at all.
Result<QueuePairHandle> createUdQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity,
                                          bool& refused);
// RESET to INIT: receives may be posted.
Status initialise(ibv_qp* queue_pair, std::uint8_t port, std::uint16_t p_key_index,
                  std::uint32_t q_key, const std::string& entity);
// INIT to ready to send, by way of ready to receive. The first PSN is random.
Status makeReady(ibv_qp* queue_pair, const std::string& entity);
// False: it is in error, or nobody knows.
bool isReady(ibv_qp* queue_pair);

}  // namespace pingloom::rdma::verbs
