// The messages of an endpoint between post() and UdSent, oldest first. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/time.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

// Bound: kMax. A departure that nobody reports within kMaxWait (some drivers never do) is
// taken for one without a time.
class InFlight {
 public:
  static constexpr std::size_t kMax = 4096;
  static constexpr Nanos kMaxWait = 100 * kMillisecond;

  // `first`: numbers count up from it.
  explicit InFlight(std::uint32_t first) : entries_(kMax), begin_(first), end_(first) {}

  bool full() const { return end_ - begin_ == kMax; }
  // The number of the next message. REQUIRES: not full().
  std::uint32_t add(std::uint64_t id) {
    entries_[end_ % kMax] = {id, kNever, false};
    return end_++;
  }
  // The last add() came to nothing.
  void undo() { --end_; }
  // What was added and not yet given a time is given this one: waiting begins.
  void flushed(Nanos now_mono) {
    for (std::uint32_t i = end_; i != begin_ && at(i - 1).since_mono == kNever; --i) {
      at(i - 1).since_mono = now_mono;
    }
  }
  // Appends to `out`; nothing for a number that is over or was never given.
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
  // When expire() has something to do.
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
  std::uint32_t begin_;  // numbers wrap
  std::uint32_t end_;
};

}  // namespace pingloom::rdma::soft
