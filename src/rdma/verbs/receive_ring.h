// The receive buffers of a UD endpoint; they are posted except while a message is being handled.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/error.h"
#include "rdma/verbs/registered_memory.h"

namespace pingloom::rdma::verbs {

class ReceiveRing {
 public:
  // Set in the identity of each work request; sends have it clear.
  static constexpr std::uint64_t kMark = 1ULL << 63;
  static constexpr bool isReceive(std::uint64_t work_request) {
    return (work_request & kMark) != 0;
  }

  ReceiveRing(RegisteredMemory memory, std::uint32_t slots, std::size_t slot_bytes);

  // Returns the buffer of a completed receive, or an empty one for an unknown identity. The caller
  // may use it until repost().
  std::span<const std::uint8_t> take(std::uint64_t work_request);
  // Posts all taken buffers again, in one chain.
  Status repost(ibv_qp* queue_pair);

 private:
  struct Slot {
    ibv_recv_wr request{};
    ibv_sge place{};
    bool posted = false;
  };

  RegisteredMemory memory_;
  std::size_t slot_bytes_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> taken_;
};

}  // namespace pingloom::rdma::verbs
