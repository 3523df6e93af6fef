// Why a soft device drops packets, and how often it did. Plain values; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

enum class Drop : std::uint8_t {
  kShort,  // these six: rdma/soft/packet.h
  kLong,   // also: above the device's or the endpoint's MTU
  kVersion,
  kOpcode,  // also: one that the addressed endpoint does not take
  kPad,
  kPayload,
  kIpHeader,  // IP options, fragments, contradicting lengths (raw socket only)
  kIcrc,
  kPKey,
  kQpn,  // no such endpoint here
  kQKey,
  kReceiveQueue,    // the addressed endpoint was not polled in time
  kSocketOverflow,  // the kernel had no room
  kIcmpError,       // sent, and came back: nobody listens there, or there is no way
  kImpairmentLoss,  // sent, and lost on purpose
};
constexpr std::array<std::string_view, 15> kDropNames = {
    "short",           "long",       "version",        "opcode", "pad",   "payload",
    "ip_header",       "icrc",       "p_key",          "qpn",    "q_key", "receive_queue",
    "socket_overflow", "icmp_error", "impairment_loss"};
static_assert(static_cast<std::size_t>(Drop::kImpairmentLoss) + 1 == kDropNames.size());

class DropCounters {
 public:
  void add(Drop reason, std::uint64_t count = 1) {
    counts_[static_cast<std::size_t>(reason)] += count;
  }
  // All reasons, with the sums of both.
  std::vector<DropCount> plus(const DropCounters& other) const {
    std::vector<DropCount> sums;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      sums.push_back({kDropNames[i], counts_[i] + other.counts_[i]});
    }
    return sums;
  }

 private:
  std::array<std::uint64_t, kDropNames.size()> counts_{};
};

}  // namespace pingloom::rdma::soft
