#include "collector/stores/store_link.h"

namespace pingloom::collector {

namespace {

// The translators of a shared store must not overwrite what others have added.
rdma::Access accessFor(const store::Head& head, store::Purpose purpose) {
  if (purpose == store::Purpose::kRead) return rdma::Access::kRead;
  if (head.isShared()) return rdma::Access::kAtomic;
  return rdma::Access::kRead | rdma::Access::kWrite;
}

}  // namespace

Result<std::unique_ptr<StoreLink>> StoreLink::make(const store::StoreFile& file,
                                                   const store::ConnectRequest& request,
                                                   rdma::Device& device) {
  const rdma::Access access = accessFor(file.head(), request.purpose);
  std::unique_ptr<StoreLink> link(new StoreLink(file, request));
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  link->domain_ = std::move(*domain);
  auto region = link->domain_->registerMemory(file.region(), access);
  if (!region) return tl::unexpected(region.error());
  link->region_ = std::move(*region);
  rdma::RcOptions options;
  options.access = access;
  options.depth = 1;  // this side posts no requests
  auto endpoint = link->domain_->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  link->endpoint_ = std::move(*endpoint);
  if (auto started = link->endpoint_->startConnect(request.endpoint); !started) {
    return tl::unexpected(started.error());
  }
  link->connecting = link->endpoint_->state() == rdma::RcState::kConnecting;
  return link;
}

store::Connected StoreLink::describe() const {
  return {endpoint_->address(), region_->address(), region_->rkey(), file_.head()};
}

}  // namespace pingloom::collector
