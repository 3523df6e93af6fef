// The RDMA endpoints of agents that are registered with other controllers of the same history, as
// the cluster's thread read them (cluster/address_store.h). The control thread. Bound:
// plan::kMaxEndpoints entries.
#pragma once

#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "controller/model/shared_address.h"
#include "plan/endpoint.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

class ForeignEndpoints {
 public:
  // Returns the addresses whose endpoint is another one now.
  std::vector<IpAddress> take(const std::vector<SharedAddress>& changes) {
    std::vector<IpAddress> changed;
    for (const SharedAddress& change : changes) {
      const auto known = known_.find(change.address);
      if (!change.endpoint) {
        if (known == known_.end()) continue;
        known_.erase(known);
      } else if (known != known_.end()) {
        if (known->second == *change.endpoint) continue;
        known->second = *change.endpoint;
      } else if (known_.size() < plan::kMaxEndpoints) {
        known_.emplace(change.address, *change.endpoint);
      } else {
        continue;
      }
      changed.push_back(change.address);
    }
    return changed;
  }
  // Returns nullptr if no other controller has one there.
  const plan::Endpoint* find(const IpAddress& address) const {
    const auto known = known_.find(address);
    return known == known_.end() ? nullptr : &known->second;
  }

 private:
  std::unordered_map<IpAddress, plan::Endpoint, IpAddressHash> known_;
};

}  // namespace pingloom::controller
