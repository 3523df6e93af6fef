#include "probe/rdma/peers.h"

#include <utility>

namespace pingloom::probe::rdma_ud {

void Peers::set(std::shared_ptr<const plan::EndpointTable> table) {
  table_ = std::move(table);
  by_lid_.clear();
  if (table_ == nullptr) return;
  for (const auto& [address, endpoint] : *table_) {
    if (endpoint.lid != 0) by_lid_[keyOf(endpoint.lid, endpoint.qpn)] = address;
  }
}

const plan::Endpoint* Peers::find(const IpAddress& address) const {
  if (table_ == nullptr) return nullptr;
  const auto found = table_->find(address);
  return found == table_->end() ? nullptr : &found->second;
}

IpAddress Peers::addressOf(const rdma::UdPath& from, std::uint32_t qpn) const {
  if (from.lid == 0) return from.gid.address();
  const auto found = by_lid_.find(keyOf(from.lid, qpn));
  return found == by_lid_.end() ? IpAddress() : found->second;
}

}  // namespace pingloom::probe::rdma_ud
