// The send queue of a UD endpoint: a fixed number of slots, each with its buffer. Messages are
// collected and posted as one chain with one doorbell. Every send is signalled, for its timestamp.
// One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rdma/ud_endpoint.h"
#include "rdma/verbs/registered_memory.h"

namespace pingloom::rdma::verbs {

class SendRing {
 public:
  SendRing(RegisteredMemory memory, std::uint32_t slots, std::size_t slot_bytes);

  bool full() const { return free_.empty(); }
  // REQUIRES: !full(), and the payload fits. Shares the ownership of `handle` until the send has
  // completed.
  void add(const UdMessage& message, const std::shared_ptr<ibv_ah>& handle);
  // Posts the added messages; `now_mono` is their software timestamp. Messages that the device
  // refuses become failed UdSents in `failed`. Returns the device's error number, or 0.
  int flush(ibv_qp* queue_pair, Nanos now_mono, std::vector<UdSent>& failed);
  // Completes the send of a slot; returns nullopt for an identity that is not in flight. `ticks` is
  // the device's timestamp; without one the time of flush() counts.
  std::optional<UdSent> complete(std::uint64_t work_request, bool ok,
                                 std::optional<std::uint64_t> ticks);

 private:
  struct Slot {
    ibv_send_wr request{};
    ibv_sge place{};
    std::shared_ptr<ibv_ah> handle;  // set while the slot is in use
    std::uint64_t id = 0;
    std::uint64_t left = 0;
  };

  void release(std::uint32_t slot);

  RegisteredMemory memory_;
  std::size_t slot_bytes_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> added_;
};

}  // namespace pingloom::rdma::verbs
