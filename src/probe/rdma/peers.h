// The mesh's RDMA endpoints as a port sees them. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/address.h"
#include "plan/endpoint.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::probe::rdma_ud {

class Peers {
 public:
  void set(std::shared_ptr<const plan::EndpointTable> table);
  // Whether there is a table at all; before, nobody knows who is there.
  bool isKnown() const { return table_ != nullptr; }
  const plan::Endpoint* find(const IpAddress& address) const;
  // Whose packets come from there. RoCE: the GID says it. InfiniBand: whoever registered the LID
  // and queue pair; 0.0.0.0 where nobody did.
  IpAddress addressOf(const rdma::UdPath& from, std::uint32_t qpn) const;

 private:
  static std::uint64_t keyOf(std::uint16_t lid, std::uint32_t qpn) {
    return static_cast<std::uint64_t>(lid) << 32 | qpn;
  }
  std::shared_ptr<const plan::EndpointTable> table_;
  std::unordered_map<std::uint64_t, IpAddress> by_lid_;
};

}  // namespace pingloom::probe::rdma_ud
