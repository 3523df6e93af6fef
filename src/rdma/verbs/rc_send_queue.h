// The send queue of an RC endpoint: requests between post() and completion, oldest first. They are
// collected and posted as one chain with one doorbell. In a chain the device signals the requests
// that the owner wants signalled and the last one, so that every completion becomes known. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rdma/rc_endpoint.h"
#include "rdma/verbs/rc_domain.h"

namespace pingloom::rdma::verbs {

class RcSendQueue {
 public:
  explicit RcSendQueue(std::uint32_t depth) : slots_(depth) {}

  bool full() const { return added_ - oldest_ == slots_.size(); }
  bool empty() const { return added_ == oldest_; }
  // REQUIRES: !full(). A request whose local memory does not belong to `domain`, or whose length is
  // invalid, is not posted to the device, nor are later ones: see blocked().
  void add(const RcRequest& request, const RcDomain& domain);
  // Posts the added requests. Returns the device's error number if it refuses one, otherwise 0.
  int flush(ibv_qp* queue_pair);

  // Tells whether the device has requests in flight.
  bool isUnderWay() const { return posted_ != oldest_; }
  // Tells whether all requests before the first invalid one are done, so that it has to fail now.
  bool blocked() const { return invalid_ && oldest_ == valid_end_ && !empty(); }
  // The requests up to the next completion: their bytes, and whether one of them needs a receive at
  // the peer.
  struct Stretch {
    std::uint64_t bytes = 0;
    bool needs_receive = false;
  };
  Stretch nextStretch() const;

  // Handles the device's completion of the request that it names; earlier unsignalled requests have
  // succeeded. Returns false if that request is not in flight.
  bool complete(std::uint64_t work_request, RcStatus status, std::vector<RcDone>& done);
  // Completes all requests: the oldest with `first`, the others with kFlushed.
  void end(RcStatus first, std::vector<RcDone>& done);

 private:
  struct Slot {
    ibv_send_wr request{};
    std::array<ibv_sge, RcRequest::kMaxPieces> pieces{};
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    bool told = true;  // whether its success is reported to the owner
  };

  Slot& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }
  const Slot& slot(std::uint64_t number) const { return slots_[number % slots_.size()]; }
  static bool fill(Slot& slot, const RcRequest& request, const RcDomain& domain);

  std::vector<Slot> slots_;
  // Requests are numbered; oldest_ <= posted_ <= added_ <= oldest_ + depth.
  std::uint64_t oldest_ = 0;  // the first request that is not done
  std::uint64_t posted_ = 0;  // the first request that is not posted
  std::uint64_t added_ = 0;   // the number of the next request
  bool invalid_ = false;      // whether the request at `valid_end_` is invalid
  std::uint64_t valid_end_ = 0;
};

}  // namespace pingloom::rdma::verbs
