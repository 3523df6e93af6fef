// The receives of an RC endpoint. They have no memory; each permits one WRITE with immediate to
// arrive before the next poll(). One thread.
#pragma once

#include <cstdint>

#include "common/error.h"
#include "rdma/verbs/handles.h"
#include "rdma/verbs/receive_ring.h"

namespace pingloom::rdma::verbs {

class RcReceiveQueue {
 public:
  explicit RcReceiveQueue(std::uint32_t depth) : missing_(depth) {}

  void taken() { ++missing_; }
  // Posts the receives that were consumed; the first call posts all.
  Status repost(ibv_qp* queue_pair) {
    for (; missing_ != 0; --missing_) {
      ibv_recv_wr request{};
      request.wr_id = ReceiveRing::kMark;
      ibv_recv_wr* bad = nullptr;
      const int failed = ibv_post_recv(queue_pair, &request, &bad);
      if (failed != 0) return makeErrnoError("", "cannot post receives", failed);
    }
    return {};
  }

 private:
  std::uint32_t missing_;
};

}  // namespace pingloom::rdma::verbs
