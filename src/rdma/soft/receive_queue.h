// Copies of the messages that an endpoint has received, until its owner has handled them. One
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

// Bound: kMax messages of `longest` bytes each; unused memory is never touched.
class ReceiveQueue {
 public:
  static constexpr std::size_t kMax = 256;

  explicit ReceiveQueue(std::size_t longest)
      : longest_(longest), bytes_(new std::uint8_t[kMax * longest]), messages_(kMax) {}

  bool full() const { return room() == 0; }
  std::size_t room() const { return kMax - (end_ - begin_); }
  bool hasNews() const { return shown_ != end_; }
  // Copies the payload. REQUIRES: not full(), and a payload of at most `longest` bytes.
  void add(const UdReceived& message) {
    const std::size_t place = end_++ % kMax;
    std::uint8_t* copy = bytes_.get() + place * longest_;
    std::copy(message.payload.begin(), message.payload.end(), copy);
    messages_[place] = message;
    messages_[place].payload = {copy, message.payload.size()};
  }
  // Appends the new messages, which are valid until forgetShown().
  void show(std::vector<UdReceived>& out) {
    for (; shown_ != end_; ++shown_) out.push_back(messages_[shown_ % kMax]);
  }
  void forgetShown() {
    begin_ = shown_;
    if (begin_ == end_) begin_ = shown_ = end_ = 0;  // reuses the same few places, which are cached
  }

 private:
  std::size_t longest_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::vector<UdReceived> messages_;
  std::size_t begin_ = 0;  // counters; modulo kMax they are places
  std::size_t shown_ = 0;
  std::size_t end_ = 0;
};

}  // namespace pingloom::rdma::soft
