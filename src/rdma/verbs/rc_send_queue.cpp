#include "rdma/verbs/rc_send_queue.h"

#include <arpa/inet.h>

#include <algorithm>
#include <typeinfo>

#include "rdma/verbs/verbs_memory_region.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::uint64_t kMaxBytes = 1ULL << 31;

ibv_wr_opcode opcodeOf(RcOperation operation) {
  switch (operation) {
    case RcOperation::kRead:
      return IBV_WR_RDMA_READ;
    case RcOperation::kWrite:
      return IBV_WR_RDMA_WRITE;
    case RcOperation::kWriteImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case RcOperation::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case RcOperation::kCompareSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
  }
  return IBV_WR_RDMA_READ;
}

bool isAtomic(RcOperation operation) {
  return operation == RcOperation::kFetchAdd || operation == RcOperation::kCompareSwap;
}

// Returns nullptr if the piece is not in a region of this domain.
const VerbsMemoryRegion* regionOf(const LocalPiece& piece, const RcDomain& domain) {
  if (piece.region == nullptr || typeid(*piece.region) != typeid(VerbsMemoryRegion)) return nullptr;
  const auto* region = static_cast<const VerbsMemoryRegion*>(piece.region);
  const auto whole = region->memory();
  const bool inside = piece.memory.data() >= whole.data() &&
                      piece.memory.data() + piece.memory.size() <= whole.data() + whole.size();
  return inside && &region->domain() == &domain ? region : nullptr;
}

}  // namespace

bool RcSendQueue::fill(Slot& slot, const RcRequest& request, const RcDomain& domain) {
  if (request.local.size() > RcRequest::kMaxPieces) return false;
  std::size_t used = 0;
  for (const LocalPiece& piece : request.local) {
    if (piece.memory.empty()) continue;
    const VerbsMemoryRegion* region = regionOf(piece, domain);
    if (region == nullptr || piece.memory.size() > kMaxBytes) return false;
    slot.bytes += piece.memory.size();
    slot.pieces[used++] = {reinterpret_cast<std::uintptr_t>(piece.memory.data()),
                           static_cast<std::uint32_t>(piece.memory.size()), region->localKey()};
  }
  slot.request.num_sge = static_cast<int>(used);
  if (isAtomic(request.operation)) return slot.bytes == kAtomicBytes && used == 1;
  return slot.bytes <= kMaxBytes;
}

void RcSendQueue::add(const RcRequest& request, const RcDomain& domain) {
  Slot& slot = this->slot(added_);
  slot.id = request.id;
  slot.bytes = 0;
  slot.told = request.signalled;
  slot.request = {};
  slot.request.wr_id = added_;
  slot.request.sg_list = slot.pieces.data();
  slot.request.opcode = opcodeOf(request.operation);
  slot.request.send_flags = request.signalled ? IBV_SEND_SIGNALED : 0;
  slot.request.imm_data = htonl(request.immediate);
  if (isAtomic(request.operation)) {
    const bool swaps = request.operation == RcOperation::kCompareSwap;
    slot.request.wr.atomic.remote_addr = request.remote_address;
    slot.request.wr.atomic.rkey = request.rkey;
    slot.request.wr.atomic.compare_add = swaps ? request.compare : request.add_or_swap;
    slot.request.wr.atomic.swap = swaps ? request.add_or_swap : 0;
  } else {
    slot.request.wr.rdma.remote_addr = request.remote_address;
    slot.request.wr.rdma.rkey = request.rkey;
  }
  if (!invalid_ && !fill(slot, request, domain)) {
    invalid_ = true;
    valid_end_ = added_;
  }
  ++added_;
}

int RcSendQueue::flush(ibv_qp* queue_pair) {
  const std::uint64_t end = invalid_ ? valid_end_ : added_;
  if (posted_ == end) return 0;
  for (std::uint64_t number = posted_; number + 1 < end; ++number) {
    slot(number).request.next = &slot(number + 1).request;
  }
  Slot& last = slot(end - 1);
  last.request.next = nullptr;
  last.request.send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  const int reason = ibv_post_send(queue_pair, &slot(posted_).request, &bad);
  posted_ = reason == 0 || bad == nullptr ? end : bad->wr_id;
  return reason;
}

RcSendQueue::Stretch RcSendQueue::nextStretch() const {
  Stretch stretch;
  for (std::uint64_t number = oldest_; number < posted_; ++number) {
    const Slot& one = slot(number);
    stretch.bytes += one.bytes;
    stretch.needs_receive |= one.request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if ((one.request.send_flags & IBV_SEND_SIGNALED) != 0) break;
  }
  return stretch;
}

bool RcSendQueue::complete(std::uint64_t work_request, RcStatus status, std::vector<RcDone>& done) {
  if (work_request < oldest_ || work_request >= posted_) return false;
  for (; oldest_ < work_request; ++oldest_) {
    if (slot(oldest_).told) done.push_back({slot(oldest_).id, RcStatus::kOk});
  }
  if (slot(oldest_).told || status != RcStatus::kOk) done.push_back({slot(oldest_).id, status});
  ++oldest_;
  return true;
}

void RcSendQueue::end(RcStatus first, std::vector<RcDone>& done) {
  for (; oldest_ < added_; ++oldest_) {
    done.push_back({slot(oldest_).id, first});
    first = RcStatus::kFlushed;
  }
  posted_ = added_;
}

}  // namespace pingloom::rdma::verbs
