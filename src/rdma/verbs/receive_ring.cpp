#include "rdma/verbs/receive_ring.h"

namespace pingloom::rdma::verbs {

ReceiveRing::ReceiveRing(RegisteredMemory memory, std::uint32_t slots, std::size_t slot_bytes)
    : memory_(std::move(memory)), slot_bytes_(slot_bytes), slots_(slots) {
  taken_.reserve(slots);
  for (std::uint32_t i = 0; i < slots; ++i) {
    Slot& slot = slots_[i];
    slot.place.addr = reinterpret_cast<std::uintptr_t>(memory_.bytes().data() + i * slot_bytes_);
    slot.place.length = static_cast<std::uint32_t>(slot_bytes_);
    slot.place.lkey = memory_.localKey();
    slot.request.wr_id = kMark | i;
    slot.request.sg_list = &slot.place;
    slot.request.num_sge = 1;
    taken_.push_back(i);
  }
}

std::span<const std::uint8_t> ReceiveRing::take(std::uint64_t work_request) {
  const std::uint64_t number = work_request & ~kMark;
  if (number >= slots_.size() || !slots_[number].posted) return {};
  slots_[number].posted = false;
  taken_.push_back(static_cast<std::uint32_t>(number));
  return std::span(memory_.bytes()).subspan(number * slot_bytes_, slot_bytes_);
}

Status ReceiveRing::repost(ibv_qp* queue_pair) {
  if (taken_.empty()) return {};
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    Slot& slot = slots_[taken_[i]];
    slot.request.next = i + 1 < taken_.size() ? &slots_[taken_[i + 1]].request : nullptr;
    slot.posted = true;
  }
  ibv_recv_wr* bad = nullptr;
  const int failed = ibv_post_recv(queue_pair, &slots_[taken_.front()].request, &bad);
  taken_.clear();
  if (failed != 0) return makeErrnoError("", "cannot post receive buffers", failed);
  return {};
}

}  // namespace pingloom::rdma::verbs
