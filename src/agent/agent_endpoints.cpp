// The part of Agent that passes RDMA endpoints between the transports and the controller.
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "agent/agent.h"
#include "common/log.h"

namespace pingloom::agent {

// Reads the transports' endpoints at this agent's addresses. Returns true if they have changed.
bool Agent::readOwnEndpoints() {
  std::vector<plan::Endpoint> own;
  for (const auto& transport : transports_) {
    for (plan::Endpoint& endpoint : transport->endpoints()) {
      if (std::find(addresses_.begin(), addresses_.end(), endpoint.address) == addresses_.end()) {
        continue;
      }
      endpoint.incarnation = incarnation_;
      own.push_back(std::move(endpoint));
    }
  }
  if (!endpoint_keeper_.setOwn(std::move(own))) return false;
  for (const plan::Endpoint& endpoint : endpoint_keeper_.own()) {
    log::info("{} is reached by rdma at {} QP {}", endpoint.address.text(), endpoint.device,
              endpoint.qpn);
  }
  return true;
}

void Agent::endpointsChanged(Nanos now) {
  eventfd_t ignored = 0;
  (void)::eventfd_read(endpoints_event_.get(), &ignored);
  if (!readOwnEndpoints()) return;  // a registration has already read them
  applyEndpoints();
  control_->endpointsChanged(now);
}

// Before the first table the agent does not know which hosts are present, so missing endpoints say
// nothing about the fabric.
void Agent::applyEndpoints() {
  if (!endpoint_keeper_.isKnown()) return;
  const auto table = endpoint_keeper_.table();
  for (const auto& transport : transports_) transport->setEndpoints(table);
}

Status Agent::endpointsPushed(const wire::EndpointUpdate& update) {
  if (auto status = endpoint_keeper_.take(update, monotonicNow()); !status) return status;
  applyEndpoints();
  return {};
}

std::vector<plan::Endpoint> Agent::endpoints() {
  if (readOwnEndpoints()) applyEndpoints();  // the incarnation may have changed
  return endpoint_keeper_.own();
}

// The devices are looked up for every registration, because a driver may have been loaded since.
std::vector<IpAddress> Agent::rdmaAddresses() {
  return rdma::addressesWithDevice(addresses_, config_.rdma.device);
}

}  // namespace pingloom::agent
