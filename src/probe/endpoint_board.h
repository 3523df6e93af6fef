// Shows this host's RDMA endpoints to its other transports. Any thread.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "plan/endpoint.h"

namespace pingloom::probe {

// Bound: one endpoint for each of the host's addresses.
class EndpointBoard {
 public:
  void publish(std::vector<plan::Endpoint> endpoints) {
    const std::lock_guard lock(mutex_);
    endpoints_ = std::move(endpoints);
  }
  std::vector<plan::Endpoint> all() const {
    const std::lock_guard lock(mutex_);
    return endpoints_;
  }
  std::optional<plan::Endpoint> at(const IpAddress& address) const {
    const std::lock_guard lock(mutex_);
    for (const plan::Endpoint& endpoint : endpoints_) {
      if (endpoint.address == address) return endpoint;
    }
    return std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<plan::Endpoint> endpoints_;
};

}  // namespace pingloom::probe
