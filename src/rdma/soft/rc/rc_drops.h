// Counts the packets that reach an RC endpoint and are refused, by reason. Plain values; one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

enum class RcDrop : std::uint8_t {
  kNotConnected,    // the endpoint is not connected
  kPeer,            // the source address is not the peer's
  kSequence,        // a request after a gap, which may be held
  kDuplicate,       // a repeated request or response; requests are answered again
  kStray,           // a response without a request
  kResponse,        // a malformed response, or one of a wrong length
  kInvalidRequest,  // malformed, not permitted on this endpoint, or above its limit of READs
  kRkey,            // rdma/soft/rc/memory_table.h explains these three
  kBounds,
  kPermission,
  kNotReady,  // no room for an immediate
};
constexpr std::array<std::string_view, 11> kRcDropNames = {
    "not_connected",   "peer", "sequence", "duplicate",  "stray",    "response",
    "invalid_request", "rkey", "bounds",   "permission", "not_ready"};
static_assert(static_cast<std::size_t>(RcDrop::kNotReady) + 1 == kRcDropNames.size());

class RcDropCounters {
 public:
  void add(RcDrop reason) { ++counts_[static_cast<std::size_t>(reason)]; }
  std::uint64_t of(RcDrop reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  void appendTo(std::vector<DropCount>& out) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) out.push_back({kRcDropNames[i], counts_[i]});
  }

 private:
  std::array<std::uint64_t, kRcDropNames.size()> counts_{};
};

}  // namespace pingloom::rdma::soft
