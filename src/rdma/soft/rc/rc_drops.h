// Why an RC endpoint refuses packets of the right QPN, and how often it did. Plain values; one
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
  kNotConnected,    // not yet, or not any more
  kPeer,            // from another address than the peer's
  kSequence,        // a request after a gap
  kDuplicate,       // a request or response that is over; answered again where that is due
  kStray,           // a response to nothing that was asked
  kResponse,        // a response of a wrong length, or one that nobody can understand
  kInvalidRequest,  // malformed, not permitted on this endpoint, or more than it answers at a time
  kRkey,            // these three: rdma/soft/rc/memory_table.h
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
