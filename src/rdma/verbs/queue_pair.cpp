#include "rdma/verbs/queue_pair.h"

#include <fmt/format.h>

#include <cerrno>

#include "common/random.h"

namespace pingloom::rdma::verbs {
Result<QueuePairHandle> createUdQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity,
                                          bool& refused) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions;
  attributes.recv_cq = completions;
  attributes.cap.max_send_wr = depths.send;
  attributes.cap.max_recv_wr = depths.receive;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_UD;
  attributes.sq_sig_all = 0;
  QueuePairHandle made(ibv_create_qp(domain, &attributes), {"queue pair"});
  if (made != nullptr) return made;
  refused = errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS;
  return makeVerbsError(entity, "cannot make a UD queue pair", errno);
}

Status initialise(ibv_qp* queue_pair, std::uint8_t port, std::uint16_t p_key_index,
                  std::uint32_t q_key, const std::string& entity) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port;
  attributes.pkey_index = p_key_index;
  attributes.qkey = q_key;
  const int failed = ibv_modify_qp(queue_pair, &attributes,
                                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  if (failed == 0) return {};
  return makeVerbsError(
      entity,
      fmt::format("cannot initialise the queue pair (port {}, P_Key index {})", port, p_key_index),
      failed);
}

Status makeReady(ibv_qp* queue_pair, const std::string& entity) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  int failed = ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE);
  if (failed != 0) return makeVerbsError(entity, "cannot make the queue pair receive", failed);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = static_cast<std::uint32_t>(randomU64()) & kPsnMask;
  failed = ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (failed != 0) return makeVerbsError(entity, "cannot make the queue pair send", failed);
  return {};
}

bool isReady(ibv_qp* queue_pair) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  if (ibv_query_qp(queue_pair, &attributes, IBV_QP_STATE, &initial) != 0) return false;
  return attributes.qp_state == IBV_QPS_RTS;
}

}  // namespace pingloom::rdma::verbs
