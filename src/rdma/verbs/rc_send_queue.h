// The send queue of an RC endpoint: requests between post() and their end, oldest first. They are
// collected and posted as one chain with one doorbell; of a chain, those that the owner wants to
// hear of and the last one are signalled, so that every request's end becomes known. One thread.
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
  // REQUIRES !full(). One whose local memory is not of `domain`, or whose length is none, is not
  // given to the device, nor is what follows it: see blocked().
  void add(const RcRequest& request, const RcDomain& domain);
  // Posts what was added. The device's reason where it refuses; 0 where it took all.
  int flush(ibv_qp* queue_pair);

  // The device has something to do.
  bool isUnderWay() const { return posted_ != oldest_; }
  // All before the first invalid request are done: its turn has come.
  bool blocked() const { return invalid_ && oldest_ == valid_end_ && !empty(); }
  // Up to the next completion: bytes on their way, and whether one of them waits for a receive at
  // the peer.
  struct Stretch {
    std::uint64_t bytes = 0;
    bool needs_receive = false;
  };
  Stretch nextStretch() const;

  // The device's word on the request that it names; those before it, unsignalled, have succeeded.
  // False: it names none that is under way.
  bool complete(std::uint64_t work_request, RcStatus status, std::vector<RcDone>& done);
  // Ends all there are: the oldest with `first`, the others flushed.
  void end(RcStatus first, std::vector<RcDone>& done);

 private:
  struct Slot {
    ibv_send_wr request{};
    std::array<ibv_sge, RcRequest::kMaxPieces> pieces{};
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    bool told = true;  // the owner wants to hear of its success
  };

  Slot& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }
  const Slot& slot(std::uint64_t number) const { return slots_[number % slots_.size()]; }
  static bool fill(Slot& slot, const RcRequest& request, const RcDomain& domain);

  std::vector<Slot> slots_;
  // Requests are numbered; oldest_ <= posted_ <= added_ <= oldest_ + depth.
  std::uint64_t oldest_ = 0;  // not done
  std::uint64_t posted_ = 0;  // not given to the device
  std::uint64_t added_ = 0;   // the next
  bool invalid_ = false;      // from `valid_end_` on
  std::uint64_t valid_end_ = 0;
};

}  // namespace pingloom::rdma::verbs
