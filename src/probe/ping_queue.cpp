#include "probe/ping_queue.h"

#include <algorithm>

namespace pingloom::probe {

PingQueue::PingQueue(TaskList& tasks, Exchanges& exchanges, StallWatch& stalls, PingCounts& counts,
                     Nanos retry_after)
    : tasks_(&tasks),
      exchanges_(&exchanges),
      stalls_(&stalls),
      counts_(&counts),
      retry_after_(retry_after) {
  batch_.reserve(kBatch);
}

const Exchange* PingQueue::open(const Ping& ping, std::uint64_t nonce, const Instant& now) {
  const Exchange* exchange = exchanges_->open(ping.task, ping.target, nonce, now);
  if (exchange == nullptr) skip(ping, now.mono);
  return exchange;
}

void PingQueue::stamp(const Instant& now) {
  sent_mono_ = now.mono;
  Nanos timeout = 0;
  for (const Entry& entry : batch_) {
    exchanges_->sending(entry.exchange, now);
    timeout = std::max(timeout, (*tasks_)[entry.ping.task].assignment->probe.timeout);
  }
  stalls_->watchUntil(now.mono, now.mono + timeout);
}

void PingQueue::finish(std::size_t unsent) {
  const std::size_t sent = batch_.size() - unsent;
  for (std::size_t i = 0; i < sent; ++i) {
    counts_->lateness.add(
        static_cast<std::uint64_t>(std::max<Nanos>(0, sent_mono_ - batch_[i].ping.due_mono)));
  }
  counts_->sent += sent;
  // Backwards, so that the exchange table gives out the same slots in the same order again.
  for (std::size_t i = batch_.size(); i > sent; --i) exchanges_->cancel(batch_[i - 1].exchange);
  for (std::size_t i = sent; i < batch_.size(); ++i) wait(batch_[i].ping, sent_mono_);
  batch_.clear();
}

void PingQueue::wait(const Ping& ping, std::uint32_t exchange, Nanos now) {
  exchanges_->cancel(exchange);
  wait(ping, now);
}

void PingQueue::wait(const Ping& ping, Nanos now) {
  if (waiting_.size() >= kMaxWaiting) {
    skip(ping, now);
    return;
  }
  waiting_.push_back(ping);
  retry_mono_ = now + retry_after_;
}

void PingQueue::skip(const Ping& ping, Nanos now) {
  ++counts_->skipped;
  tasks_->countSkipped(ping.task, ping.target, now);
}

void PingQueue::skipFrom(std::uint32_t task) {
  counts_->skipped += std::erase_if(waiting_, [&](const Ping& ping) { return ping.task >= task; });
}

}  // namespace pingloom::probe
