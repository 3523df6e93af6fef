#include "rdma/verbs/send_ring.h"

#include <cstring>

namespace pingloom::rdma::verbs {

SendRing::SendRing(RegisteredMemory memory, std::uint32_t slots, std::size_t slot_bytes)
    : memory_(std::move(memory)), slot_bytes_(slot_bytes), slots_(slots) {
  free_.reserve(slots);
  added_.reserve(slots);
  for (std::uint32_t i = slots; i-- > 0;) {
    Slot& slot = slots_[i];
    slot.place.addr = reinterpret_cast<std::uintptr_t>(memory_.bytes().data() + i * slot_bytes_);
    slot.place.lkey = memory_.localKey();
    slot.request.wr_id = i;
    slot.request.sg_list = &slot.place;
    slot.request.num_sge = 1;
    slot.request.opcode = IBV_WR_SEND;
    slot.request.send_flags = IBV_SEND_SIGNALED;
    free_.push_back(i);
  }
}

void SendRing::add(const UdMessage& message, const std::shared_ptr<ibv_ah>& handle) {
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = slots_[number];
  if (!message.payload.empty()) {
    std::memcpy(memory_.bytes().data() + number * slot_bytes_, message.payload.data(),
                message.payload.size());
  }
  slot.place.length = static_cast<std::uint32_t>(message.payload.size());
  slot.handle = handle;
  slot.id = message.id;
  slot.request.wr.ud.ah = handle.get();
  slot.request.wr.ud.remote_qpn = message.qpn;
  slot.request.wr.ud.remote_qkey = message.q_key;
  slot.request.next = nullptr;
  if (!added_.empty()) slots_[added_.back()].request.next = &slot.request;
  added_.push_back(number);
}

int SendRing::flush(ibv_qp* queue_pair, Nanos now_mono, std::vector<UdSent>& failed) {
  if (added_.empty()) return 0;
  for (const std::uint32_t number : added_) {
    slots_[number].left = static_cast<std::uint64_t>(now_mono);
  }
  ibv_send_wr* bad = nullptr;
  const int reason = ibv_post_send(queue_pair, &slots_[added_.front()].request, &bad);
  if (reason != 0) {
    // The device has accepted the requests before the bad one.
    for (const ibv_send_wr* request = bad; request != nullptr; request = request->next) {
      const auto number = static_cast<std::uint32_t>(request->wr_id);
      failed.push_back({slots_[number].id, false, std::nullopt});
      release(number);
    }
  }
  added_.clear();
  return reason;
}

std::optional<UdSent> SendRing::complete(std::uint64_t work_request, bool ok,
                                         std::optional<std::uint64_t> ticks) {
  if (work_request >= slots_.size()) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(work_request);
  Slot& slot = slots_[number];
  if (slot.handle == nullptr) return std::nullopt;
  UdSent sent{slot.id, ok, ticks ? *ticks : slot.left};
  if (!ok) sent.ticks.reset();
  release(number);
  return sent;
}

void SendRing::release(std::uint32_t slot) {
  slots_[slot].handle.reset();
  free_.push_back(slot);
}

}  // namespace pingloom::rdma::verbs
