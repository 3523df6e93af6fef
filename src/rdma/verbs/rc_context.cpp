#include "rdma/verbs/rc_context.h"

#include "rdma/verbs/async_events.h"

namespace pingloom::rdma::verbs {
namespace {

// Returns the queue pair or completion queue that an event concerns, or nullptr if it concerns the
// port or the device.
const void* subjectOf(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return event.element.qp;
    case IBV_EVENT_CQ_ERR:
      return event.element.cq;
    default:
      return nullptr;
  }
}

// Tells whether the retries of a reliable connection may survive the event, such as a port that is
// down for a moment.
bool isBridged(const ibv_async_event& event) {
  return event.event_type == IBV_EVENT_PORT_ERR || event.event_type == IBV_EVENT_PKEY_CHANGE;
}

}  // namespace

Result<std::shared_ptr<RcContext>> RcContext::create(ibv_device* device, std::string entity,
                                                     std::uint8_t port, const GidDetails& gid) {
  auto context = openContext(device);
  if (!context) return tl::unexpected(context.error());
  if (auto set = makeEventsNonBlocking(context->get()); !set) {
    return makeError(entity, set.error().reason);
  }
  return std::shared_ptr<RcContext>(
      new RcContext(std::move(*context), std::move(entity), port, gid));
}

void RcContext::takeEvents() {
  ibv_async_event event{};
  while (ibv_get_async_event(get(), &event) == 0) {
    note(event);
    ibv_ack_async_event(&event);
  }
}

void RcContext::note(const ibv_async_event& event) {
  const std::string reason = meaning(get(), event, port_, gid_);
  if (reason.empty() || isBridged(event)) return;
  const std::lock_guard lock(mutex_);
  if (const void* subject = subjectOf(event)) {
    failures_.emplace(subject, reason);
  } else if (device_failure_.empty()) {
    device_failure_ = reason;
  }
  troubled_.store(true, std::memory_order_release);
}

std::string RcContext::failureOf(const ibv_qp* queue_pair, const ibv_cq* completions) const {
  if (!troubled_.load(std::memory_order_acquire)) return "";
  const std::lock_guard lock(mutex_);
  if (!device_failure_.empty()) return device_failure_;
  for (const void* subject :
       {static_cast<const void*>(queue_pair), static_cast<const void*>(completions)}) {
    if (const auto found = failures_.find(subject); found != failures_.end()) return found->second;
  }
  return "";
}

void RcContext::forget(const ibv_qp* queue_pair, const ibv_cq* completions) {
  const std::lock_guard lock(mutex_);
  failures_.erase(queue_pair);
  failures_.erase(completions);
}

}  // namespace pingloom::rdma::verbs
