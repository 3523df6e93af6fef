// Holds what all domains of a device and their RC endpoints share: one opened device and one stream
// of asynchronous events. Any thread; it lives as long as the last of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"
#include "rdma/verbs/lookup_threads.h"

namespace pingloom::rdma::verbs {

class RcContext {
 public:
  // `entity` names it in errors, e.g. "mlx5_0 port 1".
  static Result<std::shared_ptr<RcContext>> create(ibv_device* device, std::string entity,
                                                   std::uint8_t port, const GidDetails& gid);

  const std::string& entity() const { return entity_; }
  ibv_context* get() const { return context_.get(); }
  // Becomes readable when there are asynchronous events; the first endpoint to notice takes them
  // for all.
  int descriptor() const { return context_->async_fd; }

  LookupThreads& lookups() { return lookups_; }

  void takeEvents();
  // Returns why an endpoint with these can no longer work, or "" if no event said so.
  std::string failureOf(const ibv_qp* queue_pair, const ibv_cq* completions) const;
  // Removes the records of both, which are about to be destroyed.
  void forget(const ibv_qp* queue_pair, const ibv_cq* completions);

 private:
  RcContext(Context context, std::string entity, std::uint8_t port, const GidDetails& gid)
      : context_(std::move(context)), entity_(std::move(entity)), port_(port), gid_(gid) {}
  void note(const ibv_async_event& event);

  Context context_;
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
