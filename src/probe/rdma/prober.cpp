#include "probe/rdma/prober.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/log.h"
#include "plan/flow_labels.h"
#include "probe/rdma/tags.h"

namespace pingloom::probe::rdma_ud {

using rdma::PostResult;

Prober::Prober(const AgentContext& context, const Origin& origin, const Peers& peers,
               StallWatch& stalls)
    : context_(&context),
      clock_(origin.clock),
      peers_(&peers),
      tasks_(WindowOrigin(origin.clock.source(), origin.device), context.phase_seed, *context.clock,
             *context.windows),
      exchanges_(tasks_, stalls, origin.clock, StallRule::kSpoilsSoftware, 0),
      queue_(tasks_, exchanges_, stalls, counts_, kRetry) {
  exchanges_.setListener(context.listener);
  exchanges_.setOneOff(context.one_off);
  exchanges_.onLost([this](std::uint32_t task, std::uint32_t target) { missed(task, target); });
}

void Prober::setWork(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
                     const Instant& now) {
  exchanges_.move(tasks_.replace(work, now.mono));
  queue_.skipFrom(0);  // their tasks may be gone
  pace_ = Pace(tasks_.tasks());
  findTargets();
}

void Prober::flush(const Instant& now) {
  exchanges_.settleAndForgetAll();
  tasks_.flush(now.mono);
  queue_.skipFrom(0);
  targets_.clear();
}

Prober::Target Prober::targetFor(const Task& task, std::uint32_t target) const {
  Target made;
  const plan::Endpoint* at = peers_->find(task.assignment->destinations[target]);
  if (at == nullptr) return made;
  made.path.gid.bytes = at->gid;
  made.path.lid = at->lid;
  made.path.traffic_class = static_cast<std::uint8_t>(task.assignment->probe.traffic_class);
  made.path.service_level = task.assignment->probe.service_level;
  made.path.gid_index = task.assignment->probe.gid_index;
  made.path.flow_label = plan::flowLabelOf(task.path);
  made.qpn = at->qpn;
  made.q_key = at->q_key;
  made.mtu = at->mtu != 0 ? at->mtu : std::numeric_limits<std::uint32_t>::max();
  if (endpoint_ != nullptr) {
    made.mtu = std::min(made.mtu, static_cast<std::uint32_t>(endpoint_->maxPayload()));
  }
  made.there = true;
  return made;
}

void Prober::findTargets() {
  const auto tasks = static_cast<std::uint32_t>(tasks_.tasks().size());
  std::size_t longest = wire::kPingPaddedBytes;
  targets_.resize(tasks);
  for (std::uint32_t t = 0; t < tasks; ++t) {
    const Task& task = tasks_[t];
    findTargets(t);
    longest = std::max(longest, wire::paddedPing(task.assignment->probe.payload));
    sayMisfits(t);
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

// The text is the same until something about it changes, and is logged once.
void Prober::sayMisfits(std::uint32_t task) {
  const plan::Assignment& assignment = *tasks_[task].assignment;
  const std::size_t bytes = wire::paddedPing(assignment.probe.payload);
  std::string said;
  std::size_t more = 0;
  for (std::size_t i = 0; i < targets_[task].size() && endpoint_ != nullptr; ++i) {
    const Target& target = targets_[task][i];
    if (!target.there || bytes <= target.mtu) continue;
    if (!said.empty()) {
      ++more;
      continue;
    }
    said = fmt::format("PINGs of {} bytes from {} to {} do not fit the path MTU of {}", bytes,
                       assignment.source.text(), assignment.destinations[i].text(), target.mtu);
  }
  if (more > 0) said += fmt::format(", nor those to {} more", more);
  std::string& before = said_misfits_[assignment.probe.name];
  if (said != before && !said.empty()) {
    log::warning("probe {}: {}; the pairs are misfit until `payload` is smaller or the MTU larger",
                 assignment.probe.name, said);
  }
  before = std::move(said);
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
  queue_.skipFrom(static_cast<std::uint32_t>(targets_.size()));
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
  lost_(task, target);
  Target& at = targets_[task][target];
  if (++at.missed < kMissedTooMany) return;
  at.missed = 0;
  if (endpoint_ != nullptr && at.there) endpoint_->recheck(at.path);
}

void Prober::elapse(Nanos handled, Nanos now) {
  exchanges_.expire(handled);
  tasks_.closeDue(handled);
  if (queue_.retryAt() <= now || tasks_.nextDue() <= pace_.reach(now)) sendDue(now);
}

void Prober::sendDue(Nanos now) {
  if (queue_.retryAt() <= now) {
    const Instant instant = Instant::now();
    queue_.retry(now, [&](const Ping& again) {
      ping(again, instant);
      if (queue_.room() == 0) leave();
    });
  }
  const Nanos until = pace_.reach(now);
  for (std::uint32_t task = 0; task < tasks_.tasks().size(); ++task) {
    if (tasks_[task].schedule.nextDue() <= until) sendTask(task, until);
  }
  leave();
}

void Prober::sendTask(std::uint32_t task, Nanos until) {
  const Instant instant = Instant::now();
  for (int batches = 0; batches < PingQueue::kMaxBatches; ++batches) {
    due_.clear();
    tasks_.takeDue(task, until, queue_.room(), due_, instant.mono);
    if (due_.empty()) return;
    for (const ProbeSchedule::Due& due : due_) {
      ping({task, due.target, pace_.departure(due.due_mono)}, instant);
    }
    if (queue_.room() == 0) leave();
  }
}

void Prober::countUnreachable(const Ping& ping, const Instant& now, bool misfit) {
  const Exchange* exchange = exchanges_.open(ping.task, ping.target, nonces_.next(), now);
  if (exchange == nullptr) return;
  exchanges_.sending(exchange->id, now);
  if (misfit) {
    ++tasks_[ping.task].windows.windowFor(ping.target, exchange->window).misfit;
  }
  exchanges_.failed(exchange->id, Failure::kUnreachable);
}

void Prober::ping(const Ping& ping, const Instant& now) {
  const Target& target = targets_[ping.task][ping.target];
  if (!peers_->isKnown()) {
    queue_.skip(ping, now.mono);
    return;
  }
  const std::size_t bytes = wire::paddedPing(tasks_[ping.task].assignment->probe.payload);
  const bool there = endpoint_ != nullptr && target.there;
  if (!there || bytes > target.mtu) {
    countUnreachable(ping, now, there);
    return;
  }
  const Exchange* exchange = queue_.open(ping, nonces_.next(), now);
  if (exchange != nullptr) post(ping, target, *exchange);
}

void Prober::post(const Ping& ping, const Target& target, const Exchange& exchange) {
  wire::ProbeMessage message = exchanges_.pingOf(exchange);
  message.incarnation = context_->incarnation;
  message.q_key = q_key_;
  message.answer_label = target.path.flow_label;
  wire::write(message, buffer_);
  const auto bytes = std::span<const std::uint8_t>(buffer_).first(message.length);
  const std::uint64_t tag = tagOf(SendKind::kPing, exchange.id);
  switch (endpoint_->post({target.path, target.qpn, target.q_key, bytes, tag})) {
    case PostResult::kPosted:
      queue_.add(ping, exchange.id);
      return;
    case PostResult::kFull:
    case PostResult::kResolving:
      queue_.wait(ping, exchange.id, exchange.times.sent.mono);
      return;
    case PostResult::kUnreachable:
      exchanges_.sending(exchange.id, exchange.times.sent);
      exchanges_.failed(exchange.id, Failure::kUnreachable);
      return;
  }
}

void Prober::leave() {
  if (queue_.empty()) return;
  queue_.stamp(Instant::now());
  endpoint_->flush();
  queue_.finish(0);
}

Nanos Prober::nextWake() const {
  return std::min({pace_.departure(tasks_.nextDue()), queue_.retryAt(), tasks_.nextClose(),
                   exchanges_.nextWake()});
}

Distribution Prober::takeLateness() { return std::exchange(counts_.lateness, {}); }

}  // namespace pingloom::probe::rdma_ud
