#include "rdma/verbs/rc_connecting.h"

#include <sys/eventfd.h>

#include <utility>

namespace pingloom::rdma::verbs {

void RcParts::endQueuePair() {
  if (queue_pair == nullptr) return;
  const ibv_qp* pair = queue_pair.get();
  queue_pair.reset();
  domain->context().forget(pair, completions.get());
}

std::shared_ptr<RcConnecting> RcConnecting::start(std::shared_ptr<RcParts> parts,
                                                  const RcConnection& connection) {
  UniqueFd ended(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ended.valid()) return nullptr;
  LookupThreads& threads = parts->domain->context().lookups();
  std::shared_ptr<RcConnecting> made(
      new RcConnecting(std::move(parts), connection, std::move(ended)));
  const bool begun = threads.run([made] { made->run(); }, true);
  return begun ? made : nullptr;
}

void RcConnecting::run() {
  Status connected = connectRc(parts_->queue_pair.get(), connection_, parts_->domain->entity());
  {
    const std::lock_guard lock(mutex_);
    result_ = std::move(connected);
  }
  eventfd_write(ended_.get(), 1);
}

std::optional<Status> RcConnecting::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

}  // namespace pingloom::rdma::verbs
