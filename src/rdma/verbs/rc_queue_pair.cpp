#include "rdma/verbs/rc_queue_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "rdma/verbs/path_attributes.h"

namespace pingloom::rdma::verbs {
namespace {

// 0.64 ms, the time after which a peer retries if no receive is posted.
constexpr std::uint8_t kMinRnrTimer = 12;

// REQUIRES: 256, 512, .. 4096.
ibv_mtu mtuOf(std::uint32_t bytes) {
  int mtu = IBV_MTU_256;
  for (std::uint32_t reached = 256; reached < bytes; reached *= 2) ++mtu;
  return static_cast<ibv_mtu>(mtu);
}

Status makeReceiving(ibv_qp* queue_pair, const RcConnection& connection,
                     const std::string& entity) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtuOf(std::min(connection.own.mtu, connection.peer.mtu));
  attributes.dest_qp_num = connection.peer.qpn;
  attributes.rq_psn = connection.peer.psn;
  attributes.max_dest_rd_atomic = connection.own.reads;
  attributes.min_rnr_timer = kMinRnrTimer;
  attributes.ah_attr =
      attributesOf({connection.peer.gid, connection.peer.lid, connection.options.traffic_class,
                    connection.options.flow_label},
                   connection.path);
  const int failed =
      ibv_modify_qp(queue_pair, &attributes,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (failed == 0) return {};
  const std::string peer = connection.peer.gid.address().text();
  if (failed == ETIMEDOUT || failed == EHOSTUNREACH || failed == ENETUNREACH) {
    return makeError(entity, fmt::format("there is no way to {}: nobody there answers ARP or "
                                         "neighbour discovery",
                                         peer));
  }
  return makeVerbsError(entity, fmt::format("cannot connect the queue pair to {}", peer), failed);
}

Status makeSending(ibv_qp* queue_pair, const RcConnection& connection, const std::string& entity) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = connection.own.psn;
  attributes.timeout = connection.options.timeout;
  attributes.retry_cnt = connection.options.retries;
  attributes.rnr_retry = connection.options.rnr_retries;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(connection.reads);
  const int failed =
      ibv_modify_qp(queue_pair, &attributes,
                    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  if (failed == 0) return {};
  return makeVerbsError(entity, "cannot make the queue pair send", failed);
}

}  // namespace

Result<QueuePairHandle> createRcQueuePair(ibv_pd* domain, ibv_cq* completions,
                                          const QueueDepths& depths, const std::string& entity) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions;
  attributes.recv_cq = completions;
  attributes.cap.max_send_wr = depths.send;
  attributes.cap.max_recv_wr = depths.receive;
  attributes.cap.max_send_sge = RcRequest::kMaxPieces;
  attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 0;
  QueuePairHandle made(ibv_create_qp(domain, &attributes), {"queue pair"});
  if (made == nullptr) return makeVerbsError(entity, "cannot make an RC queue pair", errno);
  return made;
}

Status initialiseRc(ibv_qp* queue_pair, std::uint8_t port, const RcOptions& options,
                    const std::string& entity) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port;
  attributes.pkey_index = options.p_key_index;
  attributes.qp_access_flags = remoteAccess(options.access);
  const int failed =
      ibv_modify_qp(queue_pair, &attributes,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (failed == 0) return {};
  return makeVerbsError(entity,
                        fmt::format("cannot initialise the queue pair (port {}, P_Key index {})",
                                    port, options.p_key_index),
                        failed);
}

Status connectRc(ibv_qp* queue_pair, const RcConnection& connection, const std::string& entity) {
  if (auto made = makeReceiving(queue_pair, connection, entity); !made) return made;
  return makeSending(queue_pair, connection, entity);
}

void stop(ibv_qp* queue_pair) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  // This fails if the device is gone, and then nothing is sent or answered either.
  ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE);
}

}  // namespace pingloom::rdma::verbs
