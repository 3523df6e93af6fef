// A protection domain: a region is valid only for queue pairs of its own domain. Memory regions and
// RC endpoints share it; it lives as long as the last of them, and the opened device as long as its
// last domain. Any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rdma/verbs/handles.h"
#include "rdma/verbs/rc_context.h"

namespace pingloom::rdma::verbs {

class RcDomain {
 public:
  static Result<std::shared_ptr<RcDomain>> create(std::shared_ptr<RcContext> context) {
    auto protection = allocateProtectionDomain(context->get(), context->entity());
    if (!protection) return tl::unexpected(protection.error());
    return std::shared_ptr<RcDomain>(new RcDomain(std::move(context), std::move(*protection)));
  }

  const std::string& entity() const { return context_->entity(); }
  RcContext& context() const { return *context_; }
  ibv_pd* protection() const { return protection_.get(); }

 private:
  RcDomain(std::shared_ptr<RcContext> context, ProtectionDomain protection)
      : context_(std::move(context)), protection_(std::move(protection)) {}

  std::shared_ptr<RcContext> context_;
  ProtectionDomain protection_;  // destroyed before the context
};

}  // namespace pingloom::rdma::verbs
