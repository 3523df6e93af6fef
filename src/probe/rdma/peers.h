// The RDMA endpoints of the mesh, for the ports of this host. One thread.
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
  // Whether a table has arrived; until then no endpoint is known.
  bool isKnown() const { return table_ != nullptr; }
  const plan::Endpoint* find(const IpAddress& address) const;
  // Returns the address of a packet's sender. With RoCE that is in the GID. With InfiniBand it is
  // the address registered with the LID and queue pair, or 0.0.0.0 if there is none.
  IpAddress addressOf(const rdma::UdPath& from, std::uint32_t qpn) const;

 private:
  static std::uint64_t keyOf(std::uint16_t lid, std::uint32_t qpn) {
    return static_cast<std::uint64_t>(lid) << 32 | qpn;
  }
  std::shared_ptr<const plan::EndpointTable> table_;
  std::unordered_map<std::uint64_t, IpAddress> by_lid_;
};

}  // namespace pingloom::probe::rdma_ud
