#include "probe/rdma/prober.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/log.h"
#include "probe/rdma/tags.h"

namespace pingloom::probe::rdma_ud {

using rdma::PostResult;

Prober::Prober(const AgentContext& context, const Origin& origin, const Peers& peers,
               StallWatch& stalls)
    : context_(&context),
      clock_(origin.clock),
      peers_(&peers),
      stalls_(&stalls),
      tasks_(WindowOrigin(origin.clock.source(), origin.device), context.phase_seed, *context.clock,
             *context.windows),
      exchanges_(tasks_, stalls, origin.clock, StallRule::kSpoilsSoftware, 0) {
  exchanges_.onLost([this](std::uint32_t task, std::uint32_t target) { missed(task, target); });
}

void Prober::setWork(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
                     const Instant& now) {
  exchanges_.move(tasks_.replace(work, now.mono));
  skipped_ += waiting_.size();  // their tasks may be gone
  waiting_.clear();
  pace_ = Pace(tasks_.tasks());
  findTargets();
}

void Prober::flush(const Instant& now) {
  exchanges_.forgetAll();
  tasks_.flush(now.mono);
  waiting_.clear();
  targets_.clear();
}

Prober::Target Prober::targetFor(const Task& task, std::uint32_t target) const {
  Target made;
  const plan::Endpoint* at = peers_->find(task.assignment->destinations[target]);
  if (at == nullptr) return made;
  made.path.gid.bytes = at->gid;
  made.path.lid = at->lid;
  made.path.traffic_class = static_cast<std::uint8_t>(task.assignment->probe.traffic_class);
  made.path.flow_label = task.path;  // the k-th path has label k
  made.qpn = at->qpn;
  made.q_key = at->q_key;
  made.there = true;
  return made;
}

void Prober::findTargets() {
  const auto tasks = static_cast<std::uint32_t>(tasks_.tasks().size());
  std::size_t longest = wire::kPingMinBytes;
  targets_.resize(tasks);
  for (std::uint32_t t = 0; t < tasks; ++t) {
    const Task& task = tasks_[t];
    findTargets(t);
    longest = std::max<std::size_t>(longest, task.assignment->probe.payload);
    if (endpoint_ != nullptr && task.assignment->probe.payload > endpoint_->maxPayload()) {
      log::warning("probe {}: a payload of {} bytes does not fit into the path MTU of {}: skipped",
                   task.assignment->probe.name, task.assignment->probe.payload,
                   endpoint_->maxPayload());
    }
  }
  buffer_.assign(longest, 0);
}

void Prober::findTargets(std::uint32_t task) {
  targets_[task].assign(tasks_[task].assignment->destinations.size(), {});
  for (std::uint32_t i = 0; i < targets_[task].size(); ++i) {
    Target& target = targets_[task][i] = targetFor(tasks_[task], i);
    if (target.there && endpoint_ != nullptr) endpoint_->prepare(target.path);
  }
}

void Prober::startBurst(const std::shared_ptr<const Burst>& burst, Nanos now) {
  tasks_.startBurst(burst, now);
  targets_.emplace_back();
  findTargets(static_cast<std::uint32_t>(targets_.size() - 1));
}

void Prober::endBurst() {
  if (!tasks_.hasBurst()) return;
  exchanges_.move(tasks_.endBurst());
  targets_.pop_back();
  skipped_ +=
      std::erase_if(waiting_, [&](const Ping& ping) { return ping.task >= targets_.size(); });
  pace_ = Pace(tasks_.tasks());
}

void Prober::peersChanged() {
  const auto before = std::exchange(targets_, {});
  findTargets();
  exchanges_.cancelOpen([&](std::uint32_t task, std::uint32_t target) {
    const Target& was = before[task][target];
    const Target& is = targets_[task][target];
    return was.there && (!is.there || was.qpn != is.qpn || !(was.path == is.path));
  });
}

void Prober::setEndpoint(rdma::UdEndpoint* endpoint, std::uint32_t q_key) {
  endpoint_ = endpoint;
  q_key_ = q_key;
  retry_at_ = kNever;
  exchanges_.cancelOpen([](std::uint32_t, std::uint32_t) { return true; });
  findTargets();
}

void Prober::sent(std::uint32_t id, const rdma::UdSent& sent) {
  if (!sent.ok) {
    exchanges_.failed(id, Failure::kUnreachable);
  } else if (sent.ticks) {
    exchanges_.stamped(id, *sent.ticks);
  }
}

std::optional<DropReason> Prober::answered(const Answer& answer, const Instant& now) {
  if (const auto refused = exchanges_.answered(answer, now)) return refused;
  if (const Exchange* exchange = exchanges_.find(answer.message.id)) {
    targets_[exchange->task][exchange->target].missed = 0;
  }
  return std::nullopt;
}

void Prober::missed(std::uint32_t task, std::uint32_t target) {
  Target& at = targets_[task][target];
  if (++at.missed < kMissedTooMany) return;
  at.missed = 0;
  if (endpoint_ != nullptr && at.there) endpoint_->recheck(at.path);
}

void Prober::elapse(Nanos handled, Nanos now) {
  exchanges_.expire(handled);
  tasks_.closeDue(handled);
  if (retry_at_ <= now || tasks_.nextDue() <= pace_.reach(now)) sendDue(now);
}

void Prober::sendDue(Nanos now) {
  if (retry_at_ <= now) {
    retry_at_ = kNever;
    retryWaiting(now);
  }
  const Nanos until = pace_.reach(now);
  for (std::uint32_t task = 0; task < tasks_.tasks().size(); ++task) {
    if (tasks_[task].schedule.nextDue() <= until) sendTask(task, until);
  }
  leave();
}

void Prober::sendTask(std::uint32_t task, Nanos until) {
  const Instant instant = Instant::now();
  // A backlog of many thousand pings is sent in several calls, so that answers are read in between.
  constexpr int kMaxBatches = 4;
  for (int batches = 0; batches < kMaxBatches; ++batches) {
    due_.clear();
    tasks_[task].schedule.take(until, kBatch - posted_.size(), due_);
    if (due_.empty()) return;
    for (const ProbeSchedule::Due& due : due_) ping({task, due.target, due.due_mono}, instant);
    if (posted_.size() >= kBatch) leave();
  }
}

void Prober::retryWaiting(Nanos now) {
  const Instant instant = Instant::now();
  for (const Ping& again : std::exchange(waiting_, {})) {
    if (now - again.due >= tasks_[again.task].assignment->probe.interval) {
      ++skipped_;
    } else {
      ping(again, instant);
    }
    if (posted_.size() >= kBatch) leave();
  }
}

void Prober::countUnreachable(const Ping& ping, const Instant& now) {
  const Exchange* exchange = exchanges_.open(ping.task, ping.target, nonces_.next(), now);
  if (exchange == nullptr) return;
  exchanges_.sending(exchange->id, now);
  exchanges_.failed(exchange->id, Failure::kUnreachable);
}

void Prober::ping(const Ping& ping, const Instant& now) {
  const Target& target = targets_[ping.task][ping.target];
  const std::uint32_t payload = tasks_[ping.task].assignment->probe.payload;
  if (!peers_->isKnown() || (endpoint_ != nullptr && payload > endpoint_->maxPayload())) {
    ++skipped_;
    return;
  }
  if (endpoint_ == nullptr || !target.there) {
    countUnreachable(ping, now);
    return;
  }
  const Exchange* exchange = exchanges_.open(ping.task, ping.target, nonces_.next(), now);
  if (exchange == nullptr) {
    ++skipped_;
    return;
  }
  post(ping, target, *exchange);
}

void Prober::post(const Ping& ping, const Target& target, const Exchange& exchange) {
  wire::ProbeMessage message;
  message.type = wire::ProbeType::kPing;
  message.clock = static_cast<std::uint8_t>(clock_.source());
  message.length = static_cast<std::uint16_t>(tasks_[ping.task].assignment->probe.payload);
  message.id = exchange.id;
  message.incarnation = context_->incarnation;
  message.nonce = exchange.nonce;
  message.q_key = q_key_;
  wire::write(message, buffer_);
  const auto bytes = std::span<const std::uint8_t>(buffer_).first(message.length);
  const std::uint64_t tag = tagOf(SendKind::kPing, exchange.id);
  switch (endpoint_->post({target.path, target.qpn, target.q_key, bytes, tag})) {
    case PostResult::kPosted:
      posted_.push_back(exchange.id);
      posted_pings_.push_back(ping);
      return;
    case PostResult::kFull:
    case PostResult::kResolving:
      wait(ping, exchange.id);
      return;
    case PostResult::kUnreachable:
      exchanges_.sending(exchange.id, exchange.times.sent);
      exchanges_.failed(exchange.id, Failure::kUnreachable);
      return;
  }
}

void Prober::wait(const Ping& ping, std::uint32_t exchange) {
  exchanges_.cancel(exchange);
  if (waiting_.size() >= kMaxWaiting) {
    ++skipped_;
    return;
  }
  waiting_.push_back(ping);
  retry_at_ = monotonicNow() + kRetry;
}

void Prober::leave() {
  if (posted_.empty()) return;
  const Instant now = Instant::now();
  Nanos timeout = 0;
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    exchanges_.sending(posted_[i], now);
    const Ping& ping = posted_pings_[i];
    timeout = std::max(timeout, tasks_[ping.task].assignment->probe.timeout);
    lateness_.add(static_cast<std::uint64_t>(std::abs(now.mono - ping.due)));
  }
  stalls_->watchUntil(now.mono, now.mono + timeout);
  endpoint_->flush();
  sent_ += posted_.size();
  posted_.clear();
  posted_pings_.clear();
}

Nanos Prober::nextWake() const {
  // Verdicts are given with whatever else wakes the thread; nobody waits for them but a window.
  constexpr Nanos kVerdictSlack = 20 * kMillisecond;
  Nanos next = std::min({pace_.wakeFor(tasks_.nextDue()), retry_at_, tasks_.nextClose()});
  const Nanos expiry = exchanges_.nextExpiry();
  if (expiry != kNever) next = std::min(next, expiry + kVerdictSlack);
  return next;
}

Distribution Prober::takeLateness() { return std::exchange(lateness_, {}); }

}  // namespace pingloom::probe::rdma_ud
