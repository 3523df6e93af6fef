// A queue pair on its way to be connected, on a thread that may wait: the kernel looks up the way
// to the peer. Queue pair and all that it needs are shared with the endpoint; who is done with them
// last ends them, so an endpoint that goes meanwhile waits for nothing.
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

// What an endpoint has of the device.
struct RcParts {
  RcParts(std::shared_ptr<RcDomain> of, CompletionQueue queue, QueuePairHandle pair)
      : domain(std::move(of)), completions(std::move(queue)), queue_pair(std::move(pair)) {}
  ~RcParts() { endQueuePair(); }
  RcParts(const RcParts&) = delete;
  RcParts& operator=(const RcParts&) = delete;

  // Nothing is written to the memory of its requests from then on.
  void endQueuePair();

  // In the order in which they must go last.
  std::shared_ptr<RcDomain> domain;
  CompletionQueue completions;
  QueuePairHandle queue_pair;
};

class RcConnecting {
 public:
  // Begins at once. REQUIRES: the queue pair is let alone until it has ended. nullptr: the host has
  // no thread or no descriptor for it.
  static std::shared_ptr<RcConnecting> start(std::shared_ptr<RcParts> parts,
                                             const RcConnection& connection);

  int descriptor() const { return ended_.get(); }  // readable once it has ended
  std::optional<Status> result() const;            // nullopt: not yet

 private:
  RcConnecting(std::shared_ptr<RcParts> parts, const RcConnection& connection, UniqueFd ended)
      : parts_(std::move(parts)), connection_(connection), ended_(std::move(ended)) {}
  void run();

  const std::shared_ptr<RcParts> parts_;
  const RcConnection connection_;
  const UniqueFd ended_;  // eventfd
  mutable std::mutex mutex_;
  std::optional<Status> result_;  // under `mutex_`
};

}  // namespace pingloom::rdma::verbs
