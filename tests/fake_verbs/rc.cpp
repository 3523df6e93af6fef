// Reliable connections: what a queue pair asks of its peer's memory. Both ends are in one process,
// so a request is carried out on the peer's objects when it is due, by the thread of its sender.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "objects.h"

namespace fake {
namespace {

bool isAtomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}
bool hasImmediate(ibv_wr_opcode opcode) { return opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }

struct Remote {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t bytes = 0;
  unsigned access = 0;  // IBV_ACCESS_REMOTE_*
};

Remote remoteOf(const RcRequest& given) {
  Remote remote;
  for (const ibv_sge& piece : given.pieces) remote.bytes += piece.length;
  if (isAtomic(given.request.opcode)) {
    remote.address = given.request.wr.atomic.remote_addr;
    remote.rkey = given.request.wr.atomic.rkey;
    remote.access = IBV_ACCESS_REMOTE_ATOMIC;
  } else {
    const bool reads = given.request.opcode == IBV_WR_RDMA_READ;
    remote.address = given.request.wr.rdma.remote_addr;
    remote.rkey = given.request.wr.rdma.rkey;
    remote.access = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
  }
  return remote;
}

// The peer that takes this pair's packets; nullptr: they fall on silence.
QueuePair* peerOf(QueuePair& pair) {
  GidBytes to{};
  std::memcpy(to.data(), pair.rc.ah_attr.grh.dgid.raw, to.size());
  const PortConfig* from = pair.owner().device.port(pair.port);
  if (from == nullptr || !from->active) return nullptr;
  for (Device* device : currentDevices()) {
    for (Context* context : device->contexts) {
      for (QueuePair* peer : context->pairs) {
        const PortConfig* at = device->port(peer->port);
        if (peer->qp_type != IBV_QPT_RC || peer->qp_num != pair.rc.dest_qp_num) continue;
        if (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS) continue;
        if (at == nullptr || !at->active) continue;
        const bool here =
            at->ethernet ? device->hasGid(peer->port, to) : at->lid == pair.rc.ah_attr.dlid;
        if (here && peer->rc.dest_qp_num == pair.qp_num && peer->rc.rq_psn == pair.rc.sq_psn) {
          return peer;
        }
      }
    }
  }
  return nullptr;
}

ibv_mr* regionOf(QueuePair& pair, std::uint32_t rkey) {
  for (const auto& [local, region] : pair.owner().regions) {
    if (region->rkey == rkey && region->pd == pair.pd) return region;
  }
  return nullptr;
}

// What the peer says to a request, before it is carried out.
ibv_wc_status refusal(QueuePair& pair, QueuePair& peer, const RcRequest& given) {
  const Remote remote = remoteOf(given);
  const bool answers = given.request.opcode == IBV_WR_RDMA_READ || isAtomic(given.request.opcode);
  if (answers && pair.rc.max_rd_atomic > peer.rc.max_dest_rd_atomic) return IBV_WC_REM_INV_REQ_ERR;
  if (pair.rc.path_mtu != peer.rc.path_mtu) return IBV_WC_REM_INV_REQ_ERR;
  if ((peer.rc.qp_access_flags & remote.access) == 0) return IBV_WC_REM_INV_REQ_ERR;
  if (isAtomic(given.request.opcode) && remote.address % 8 != 0) return IBV_WC_REM_INV_REQ_ERR;
  if (remote.bytes == 0) return IBV_WC_SUCCESS;
  const ibv_mr* region = regionOf(peer, remote.rkey);
  if (region == nullptr) return IBV_WC_REM_ACCESS_ERR;
  const auto begin = reinterpret_cast<std::uintptr_t>(region->addr);
  const bool inside = remote.address >= begin && remote.bytes <= region->length &&
                      remote.address - begin <= region->length - remote.bytes;
  const auto access = peer.owner().region_access.find(region->lkey);
  const bool allowed = (access->second & remote.access) != 0;
  return inside && allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
}

// As a device copies: while the memory's owner writes there, eight bytes at a time where it can.
__attribute__((noinline, no_sanitize("thread"))) void copy(std::uint8_t* to,
                                                           const std::uint8_t* from,
                                                           std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const std::size_t words = at % sizeof(std::uint64_t) == 0 ? bytes / sizeof(std::uint64_t) : 0;
  const auto* word = reinterpret_cast<const volatile std::uint64_t*>(from);
  for (std::size_t i = 0; i < words; ++i) reinterpret_cast<std::uint64_t*>(to)[i] = word[i];
  const volatile std::uint8_t* byte = from;
  for (std::size_t i = words * sizeof *word; i < bytes; ++i) to[i] = byte[i];
}

void carryOut(const RcRequest& given) {
  const Remote remote = remoteOf(given);
  auto* there = reinterpret_cast<std::uint8_t*>(remote.address);
  if (isAtomic(given.request.opcode)) {
    std::uint64_t before = 0;
    std::memcpy(&before, there, sizeof before);
    const auto& atomic = given.request.wr.atomic;
    const bool adds = given.request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    const std::uint64_t swapped = before == atomic.compare_add ? atomic.swap : before;
    const std::uint64_t after = adds ? before + atomic.compare_add : swapped;
    std::memcpy(there, &after, sizeof after);
    std::memcpy(reinterpret_cast<void*>(given.pieces.front().addr), &before, sizeof before);
    return;
  }
  for (const ibv_sge& piece : given.pieces) {
    auto* here = reinterpret_cast<std::uint8_t*>(piece.addr);
    if (given.request.opcode == IBV_WR_RDMA_READ) {
      copy(here, there, piece.length);
    } else {
      copy(there, here, piece.length);
    }
    there += piece.length;
  }
}

void deliverImmediate(QueuePair& peer, const RcRequest& given) {
  WorkCompletion completion;
  completion.pair = &peer;
  completion.wc.wr_id = peer.receives.front().id;
  completion.wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  completion.wc.wc_flags = IBV_WC_WITH_IMM;
  completion.wc.imm_data = given.request.imm_data;
  completion.wc.byte_len = static_cast<std::uint32_t>(remoteOf(given).bytes);
  completion.wc.qp_num = peer.qp_num;
  peer.receives.pop_front();
  peer.completions(true).push(completion);
}

}  // namespace

int QueuePair::postRc(const ibv_send_wr& request) {
  if (request.num_sge > static_cast<int>(limits.cap.max_send_sge)) return EINVAL;
  ++sends_under_way;
  RcRequest posted;
  posted.request = request;
  posted.pieces.assign(request.sg_list, request.sg_list + request.num_sge);
  posted.due = monotonicNanos() + static_cast<std::int64_t>(owner().device.config.delay_us) * 1000;
  requests.push_back(std::move(posted));
  if (state == IBV_QPS_ERR) flushRequests();
  owner().wake();
  return 0;
}

void QueuePair::endRequest(ibv_wc_status status) {
  const ibv_send_wr& request = requests.front().request;
  ++unreported;
  if (status != IBV_WC_SUCCESS || (request.send_flags & IBV_SEND_SIGNALED) != 0) {
    complete(false, request.wr_id, status, monotonicNanos());
    completions(false).waiting.back().frees = std::exchange(unreported, 0);
  }
  requests.pop_front();
}

void QueuePair::flushRequests() {
  if (mute) return;
  while (!requests.empty()) endRequest(IBV_WC_WR_FLUSH_ERR);
}

void QueuePair::carryOutDue(std::int64_t now) {
  while (!requests.empty() && state == IBV_QPS_RTS && !owner().device.hangs &&
         requests.front().due <= now) {
    const auto status = attempt(requests.front(), now);
    if (!status) return;
    if (*status != IBV_WC_SUCCESS) {
      endRequest(*status);
      breakDown(IBV_WC_WR_FLUSH_ERR);
      return;
    }
    endRequest(IBV_WC_SUCCESS);
  }
}

// The packet or its answer was lost, or nobody is there.
std::optional<ibv_wc_status> QueuePair::missed(RcRequest& given, std::int64_t now) const {
  if (given.tries++ >= rc.retry_cnt) return IBV_WC_RETRY_EXC_ERR;
  given.due = now + (std::int64_t{4096} << rc.timeout);
  return std::nullopt;
}

std::optional<ibv_wc_status> QueuePair::attempt(RcRequest& given, std::int64_t now) {
  constexpr std::int64_t kNotReadyNanos = 640'000;
  constexpr unsigned kForEver = 7;
  Device& device = owner().device;
  if (device.failing_sends > 0 && device.failing_sends-- > 0) return IBV_WC_LOC_QP_OP_ERR;
  for (const ibv_sge& piece : given.pieces) {
    if (!isRegistered(owner(), piece)) return IBV_WC_LOC_PROT_ERR;
  }
  const bool answers = given.request.opcode == IBV_WR_RDMA_READ || isAtomic(given.request.opcode);
  if (answers && rc.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if (device.lost_packets > 0 && device.lost_packets-- > 0) return missed(given, now);
  QueuePair* peer = peerOf(*this);
  if (peer == nullptr) return missed(given, now);
  if (const ibv_wc_status refused = refusal(*this, *peer, given); refused != IBV_WC_SUCCESS) {
    peer->mute = true;  // as Soft-RoCE: in error, and nobody is told
    peer->state = IBV_QPS_ERR;
    return refused;
  }
  if (hasImmediate(given.request.opcode)) {
    if (peer->receives.empty()) {
      if (rc.rnr_retry != kForEver && given.not_ready++ >= rc.rnr_retry) {
        return IBV_WC_RNR_RETRY_EXC_ERR;
      }
      given.due = now + kNotReadyNanos;
      return std::nullopt;
    }
    carryOut(given);
    deliverImmediate(*peer, given);
    return IBV_WC_SUCCESS;
  }
  carryOut(given);
  return IBV_WC_SUCCESS;
}

int QueuePair::modifyRc(const ibv_qp_attr& wanted, int mask) {
  constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr int kReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  constexpr int kSend = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  Device& device = owner().device;
  switch (wanted.qp_state) {
    case IBV_QPS_INIT:
      if (mask != kInit || state != IBV_QPS_RESET) return EINVAL;
      rc.qp_access_flags = wanted.qp_access_flags;
      break;
    case IBV_QPS_RTR: {
      if (mask != kReceive || state != IBV_QPS_INIT) return EINVAL;
      GidBytes to{};
      std::memcpy(to.data(), wanted.ah_attr.grh.dgid.raw, to.size());
      if (const auto broken = device.handle_errno.find(to);
          broken != device.handle_errno.end() && broken->second != 0) {
        return broken->second;
      }
      const PortConfig& at = *device.port(port);
      if (at.ethernet != (wanted.ah_attr.is_global != 0)) return EINVAL;
      if (128U << wanted.path_mtu > at.mtu) return EINVAL;
      if (wanted.max_dest_rd_atomic > device.config.rd_atom) return EINVAL;
      rc.ah_attr = wanted.ah_attr;
      rc.path_mtu = wanted.path_mtu;
      rc.dest_qp_num = wanted.dest_qp_num;
      rc.rq_psn = wanted.rq_psn;
      rc.max_dest_rd_atomic = wanted.max_dest_rd_atomic;
      break;
    }
    case IBV_QPS_RTS:
      if (mask != kSend || state != IBV_QPS_RTR) return EINVAL;
      if (wanted.max_rd_atomic > device.config.rd_atom) return EINVAL;
      rc.sq_psn = wanted.sq_psn;
      rc.timeout = wanted.timeout;
      rc.retry_cnt = wanted.retry_cnt;
      rc.rnr_retry = wanted.rnr_retry;
      rc.max_rd_atomic = wanted.max_rd_atomic;
      break;
    case IBV_QPS_ERR:
      breakDown(IBV_WC_WR_FLUSH_ERR);
      return 0;
    default:
      return EINVAL;
  }
  state = wanted.qp_state;
  return 0;
}

}  // namespace fake
