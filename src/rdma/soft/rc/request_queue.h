// The requests of an RC endpoint between post() and completion, oldest first, each with its packet
// sequence numbers. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rdma/rc_endpoint.h"

namespace pingloom::rdma::soft {

// A posted request. Its PSNs, or for a READ those of its responses, are `first` to `end`.
struct QueuedRequest {
  RcOperation operation = RcOperation::kRead;
  bool signalled = true;
  bool valid = true;  // whether its local memory and length are valid
  std::uint8_t piece_count = 0;
  std::uint32_t length = 0;
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;
  std::uint64_t id = 0;
  std::uint64_t remote_address = 0;
  std::uint64_t add_or_swap = 0;
  std::uint64_t compare = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::array<std::span<std::uint8_t>, RcRequest::kMaxPieces> pieces{};

  bool isWrite() const {
    return operation == RcOperation::kWrite || operation == RcOperation::kWriteImmediate;
  }
  bool isAtomic() const {
    return operation == RcOperation::kFetchAdd || operation == RcOperation::kCompareSwap;
  }
};

// Returns the request with `first` 0, which the caller sets, and with `valid` set accordingly.
QueuedRequest queued(const RcRequest& request, std::uint32_t mtu);

// Copies bytes into the local pieces from byte `offset` of the message on. REQUIRES: they are
// within the length.
void scatter(const QueuedRequest& request, std::size_t offset, std::span<const std::uint8_t> bytes);
// Returns `size` bytes of the message: in place, or copied to `scratch` if they span several
// pieces.
std::span<const std::uint8_t> gather(const QueuedRequest& request, std::size_t offset,
                                     std::size_t size, std::span<std::uint8_t> scratch);

// Bound: the depth.
class RequestQueue {
 public:
  explicit RequestQueue(std::size_t depth) : places_(depth) {}

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return size() == places_.size(); }
  const QueuedRequest& operator[](std::size_t i) const {
    return places_[(begin_ + i) % places_.size()];
  }
  const QueuedRequest& front() const { return (*this)[0]; }
  // REQUIRES: not full(), and the PSNs follow the last request's.
  void push(const QueuedRequest& request) { places_[end_++ % places_.size()] = request; }
  void pop() { ++begin_; }
  void clear() { begin_ = end_; }
  // Returns the index of the request with this PSN. REQUIRES: it exists.
  std::size_t indexOf(std::uint64_t psn) const {
    std::size_t low = 0;
    for (std::size_t high = size(); high - low > 1;) {
      const std::size_t middle = (low + high) / 2;
      ((*this)[middle].first <= psn ? low : high) = middle;
    }
    return low;
  }

 private:
  std::vector<QueuedRequest> places_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace pingloom::rdma::soft
