// Limits what an RC endpoint sends to a peer that has not proved yet that it receives at its
// address. Plain values; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::rdma::soft {

// All sizes are those of IP packets.
class AnswerBudget {
 public:
  static constexpr std::uint64_t kFactor = 3;

  // Without a limit, everything is allowed.
  explicit AnswerBudget(bool limited) : limited_(limited) {}
  void received(std::size_t bytes) { received_ += bytes; }
  void sent(std::size_t bytes) { sent_ += bytes; }
  bool allows(std::size_t bytes) const { return !limited_ || sent_ + bytes <= kFactor * received_; }
  void lift() { limited_ = false; }

 private:
  bool limited_;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace pingloom::rdma::soft
