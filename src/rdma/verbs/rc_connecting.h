// Connects a queue pair on a thread that may block while the kernel resolves the path to the peer.
// The thread and the endpoint share the queue pair and all that it needs, and the last owner
// destroys them, so destroying the endpoint never blocks.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/fd.h"
#include "rdma/verbs/completion_queue.h"
#include "rdma/verbs/rc_domain.h"
#include "rdma/verbs/rc_queue_pair.h"

namespace pingloom::rdma::verbs {

// The device's objects that an endpoint owns.
struct RcParts {
  RcParts(std::shared_ptr<RcDomain> of, CompletionQueue queue, QueuePairHandle pair)
      : domain(std::move(of)), completions(std::move(queue)), queue_pair(std::move(pair)) {}
  ~RcParts() { endQueuePair(); }
  RcParts(const RcParts&) = delete;
  RcParts& operator=(const RcParts&) = delete;

  // Destroys the queue pair; from then on the device does not write to the memory of its requests.
  void endQueuePair();

  // The members are in this order because they must be destroyed in reverse.
  std::shared_ptr<RcDomain> domain;
  CompletionQueue completions;
  QueuePairHandle queue_pair;
};

class RcConnecting {
 public:
  // Starts to connect. Returns nullptr if the host is out of threads or file descriptors. REQUIRES:
  // the caller does not use the queue pair until this has ended.
  static std::shared_ptr<RcConnecting> start(std::shared_ptr<RcParts> parts,
                                             const RcConnection& connection);

  int descriptor() const { return ended_.get(); }  // becomes readable once it has ended
  std::optional<Status> result() const;            // nullopt until it has ended

 private:
  RcConnecting(std::shared_ptr<RcParts> parts, const RcConnection& connection, UniqueFd ended)
      : parts_(std::move(parts)), connection_(connection), ended_(std::move(ended)) {}
  void run();

  const std::shared_ptr<RcParts> parts_;
  const RcConnection connection_;
  const UniqueFd ended_;  // eventfd
  mutable std::mutex mutex_;
  std::optional<Status> result_;  // guarded by `mutex_`
};

}  // namespace pingloom::rdma::verbs
