// What a device's memory regions and RC endpoints have in common: one opened device, one protection
// domain (a region counts only for queue pairs of its own domain), one stream of asynchronous
// events. Any thread; lives as long as the last of them.
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
  // `entity`: "mlx5_0 port 1", for errors.
  static Result<std::shared_ptr<RcDomain>> create(ibv_device* device, std::string entity,
                                                  std::uint8_t port, const GidDetails& gid);

  const std::string& entity() const { return entity_; }
  ibv_context* context() const { return device_.context.get(); }
  ibv_pd* protection() const { return device_.domain.get(); }
  // Readable when there are asynchronous events; whoever sees it first takes them for all.
  int descriptor() const { return device_.context->async_fd; }

  LookupThreads& lookups() { return lookups_; }

  void takeEvents();
  // Why an endpoint with these can no longer work; "" where no event said so.
  std::string failureOf(const ibv_qp* queue_pair, const ibv_cq* completions) const;
  // They are about to be destroyed.
  void forget(const ibv_qp* queue_pair, const ibv_cq* completions);

 private:
  RcDomain(OpenedDevice device, std::string entity, std::uint8_t port, const GidDetails& gid)
      : device_(std::move(device)), entity_(std::move(entity)), port_(port), gid_(gid) {}
  void note(const ibv_async_event& event);

  OpenedDevice device_;
  std::string entity_;
  std::uint8_t port_;
  GidDetails gid_;
  std::atomic<bool> troubled_ = false;  // a hint: there is something below
  mutable std::mutex mutex_;
  // Under `mutex_`:
  std::string device_failure_;                   // of all endpoints
  std::map<const void*, std::string> failures_;  // by queue pair or completion queue
  LookupThreads lookups_;
};

}  // namespace pingloom::rdma::verbs
