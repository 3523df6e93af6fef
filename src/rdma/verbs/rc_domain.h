// The objects that a device's memory regions and RC endpoints share: one opened device, one
// protection domain (a region is valid only for queue pairs of its own domain), and one stream of
// asynchronous events. Any thread; it lives as long as the last of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rdma/device_details.h"
#include "rdma/verbs/lookup_threads.h"
#include "rdma/verbs/opened_device.h"

namespace pingloom::rdma::verbs {

class RcDomain {
 public:
  // `entity` names it in errors, e.g. "mlx5_0 port 1".
  static Result<std::shared_ptr<RcDomain>> create(ibv_device* device, std::string entity,
                                                  std::uint8_t port, const GidDetails& gid);

  const std::string& entity() const { return entity_; }
  ibv_context* context() const { return device_.context.get(); }
  ibv_pd* protection() const { return device_.domain.get(); }
  // Becomes readable when there are asynchronous events; the first endpoint to notice takes them
  // for all.
  int descriptor() const { return device_.context->async_fd; }

  LookupThreads& lookups() { return lookups_; }

  void takeEvents();
  // Returns why an endpoint with these can no longer work, or "" if no event said so.
  std::string failureOf(const ibv_qp* queue_pair, const ibv_cq* completions) const;
  // Removes the records of both, which are about to be destroyed.
  void forget(const ibv_qp* queue_pair, const ibv_cq* completions);

 private:
  RcDomain(OpenedDevice device, std::string entity, std::uint8_t port, const GidDetails& gid)
      : device_(std::move(device)), entity_(std::move(entity)), port_(port), gid_(gid) {}
  void note(const ibv_async_event& event);

  OpenedDevice device_;
  std::string entity_;
  std::uint8_t port_;
  GidDetails gid_;
  std::atomic<bool> troubled_ = false;  // a hint that there are failures below
  mutable std::mutex mutex_;
  // These are guarded by `mutex_`.
  std::string device_failure_;                   // concerns all endpoints
  std::map<const void*, std::string> failures_;  // keyed by queue pair or completion queue
  LookupThreads lookups_;
};

}  // namespace pingloom::rdma::verbs
