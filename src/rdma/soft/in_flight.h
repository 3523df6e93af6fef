// The messages of an endpoint between post() and UdSent, oldest first. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/time.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

// Bound: kMax. A departure that is not reported within kMaxWait (some drivers never report any)
// counts as one without a timestamp.
class InFlight {
 public:
  static constexpr std::size_t kMax = 4096;
  static constexpr Nanos kMaxWait = 100 * kMillisecond;

  // Numbers count up from `first`.
  explicit InFlight(std::uint32_t first) : entries_(kMax), begin_(first), end_(first) {}

  bool full() const { return end_ - begin_ == kMax; }
  // Returns the number of the next message. REQUIRES: not full().
  std::uint32_t add(std::uint64_t id) {
    entries_[end_ % kMax] = {id, kNever, false};
    return end_++;
  }
  // Undoes the last add().
  void undo() { --end_; }
  // Starts the wait for the departure of all messages added since the last call.
  void flushed(Nanos now_mono) {
    for (std::uint32_t i = end_; i != begin_ && at(i - 1).since_mono == kNever; --i) {
      at(i - 1).since_mono = now_mono;
    }
  }
  // Appends to `out`. Does nothing for a number that has finished or was never assigned.
  void finish(std::uint32_t number, const UdSent& how, std::vector<UdSent>& out) {
    if (number - begin_ >= end_ - begin_ || at(number).done) return;
    at(number).done = true;
    out.push_back(how);
    out.back().id = at(number).id;
    dropDone();
  }
  void expire(Nanos now_mono, std::vector<UdSent>& out) {
    while (nextExpiry() <= now_mono) finish(begin_, {.id = 0, .ok = true, .ticks = {}}, out);
  }
  // Returns when expire() has something to do.
  Nanos nextExpiry() const {
    const Nanos since = begin_ == end_ ? kNever : entries_[begin_ % kMax].since_mono;
    return since == kNever ? kNever : since + kMaxWait;
  }

 private:
  struct Entry {
    std::uint64_t id = 0;
    Nanos since_mono = kNever;
    bool done = true;
  };
  Entry& at(std::uint32_t number) { return entries_[number % kMax]; }
  void dropDone() {
    while (begin_ != end_ && at(begin_).done) ++begin_;
  }

  std::vector<Entry> entries_;
  std::uint32_t begin_;  // numbers wrap around
  std::uint32_t end_;
};

}  // namespace pingloom::rdma::soft
