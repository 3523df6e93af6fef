#include "probe/udp/prober.h"

#include <algorithm>
#include <utility>

#include "common/log.h"

namespace pingloom::probe::udp {

static_assert(PingQueue::kBatch <= net::Outbox::kMax);

Prober::Prober(const AgentContext& context, StallWatch& stalls, net::RxBatch& scratch)
    : context_(&context),
      stalls_(&stalls),
      scratch_(&scratch),
      tasks_(ClockSource::kKernel, context.phase_seed, *context.clock, *context.windows),
      exchanges_(tasks_, stalls, TickClock::nanoseconds(ClockSource::kKernel), StallRule::kSpoils,
                 context.port) {
  exchanges_.setListener(context.listener);
  exchanges_.setOneOff(context.one_off);
}

void Prober::setSockets(std::vector<net::UdpSocket>& sockets) {
  for (net::UdpSocket& socket : sockets) {
    lanes_.push_back({&socket, PingQueue(tasks_, exchanges_, *stalls_, counts_, kRetry)});
  }
}

void Prober::setWork(const std::vector<std::shared_ptr<const plan::Assignment>>& work,
                     const Instant& now) {
  exchanges_.move(tasks_.replace(work, now.mono));
  findRoutes();
  for (std::size_t task = 0; task < routes_.size(); ++task) {
    if (routes_[task].lane != nullptr) continue;
    const plan::Assignment& assignment = *tasks_.tasks()[task].assignment;
    log::warning("probe {}: no socket is bound to its source {}: not probing",
                 assignment.probe.name, assignment.source.text());
  }
}

void Prober::startBurst(const std::shared_ptr<const Burst>& burst, Nanos now) {
  endBurst();
  tasks_.startBurst(burst, now);
  // Its source and its payload are another task's, so the lanes stay as they are.
  routes_.push_back(routeOf(*burst->assignment));
}

void Prober::endBurst() {
  if (!tasks_.hasBurst()) return;
  exchanges_.move(tasks_.endBurst());
  routes_.pop_back();
  for (Lane& lane : lanes_) lane.queue.skipFrom(static_cast<std::uint32_t>(routes_.size()));
  pace_ = Pace(tasks_.tasks());
}

void Prober::flush(const Instant& now) {
  exchanges_.settleAndForgetAll();
  tasks_.flush(now.mono);
  findRoutes();
}

Prober::Lane* Prober::laneFor(const IpAddress& source) {
  Lane* wildcard = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.socket->address() == source) return &lane;
    if (lane.socket->isWildcard() && lane.socket->isV6() != source.isV4()) wildcard = &lane;
  }
  return wildcard;
}

Prober::LaneRoute Prober::routeOf(const plan::Assignment& assignment) {
  Lane* lane = laneFor(assignment.source);
  if (lane == nullptr) return {};
  LaneRoute made;
  made.lane = lane;
  made.route.socket = lane->socket;
  made.route.options.timestamp = true;
  made.route.options.traffic_class = static_cast<std::uint8_t>(assignment.probe.traffic_class);
  if (lane->socket->isWildcard()) made.route.options.from = assignment.source;
  made.route.port = assignment.probe.port != 0 ? assignment.probe.port : context_->port;
  made.control = net::makeControl(made.route.options, lane->socket->isV6());
  return made;
}

void Prober::findRoutes() {
  for (Lane& lane : lanes_) lane.queue.skipFrom(0);  // their tasks may be gone
  routes_.clear();
  for (const Task& task : tasks_.tasks()) {
    const LaneRoute& route = routes_.emplace_back(routeOf(*task.assignment));
    if (route.lane == nullptr) continue;
    route.lane->longest =
        std::max(route.lane->longest, wire::paddedPing(task.assignment->probe.payload));
  }
  for (Lane& lane : lanes_) lane.outbox = std::make_unique<net::Outbox>(lane.longest);
  pace_ = Pace(tasks_.tasks());
}

void Prober::sent(std::uint32_t id, Nanos t1_utc) {
  exchanges_.stamped(id, static_cast<std::uint64_t>(t1_utc));
}

void Prober::bounced(const net::Bounce& bounce) {
  wire::ProbeMessage quoted;
  const auto head = std::span(bounce.quoted).first(bounce.quoted_bytes);
  if (wire::parseQuoted(head, quoted) != wire::ProbeParseError::kNone) return;
  if (quoted.type != wire::ProbeType::kPing) return;
  exchanges_.failedInNetwork(quoted, bounce.refused ? Failure::kRefused : Failure::kUnreachable);
}

void Prober::elapse(Nanos handled, Nanos now) {
  exchanges_.expire(handled);
  tasks_.closeDue(handled);
  if (nextSend() <= now) sendDue(now);
}

void Prober::sendDue(Nanos now) {
  for (Lane& lane : lanes_) {
    if (!lane.queue.hasWaiting()) continue;
    const Instant instant = Instant::now();
    lane.queue.retry(now, [&](const Ping& again) { ping(again, instant); });
    leave(lane);
  }
  const Nanos until = pace_.reach(now);
  for (std::uint32_t task = 0; task < routes_.size(); ++task) {
    if (tasks_[task].schedule.nextDue() <= until) sendTask(task, until);
  }
  for (Lane& lane : lanes_) leave(lane);
}

void Prober::sendTask(std::uint32_t task, Nanos until) {
  Lane* lane = routes_[task].lane;
  const Instant instant = Instant::now();
  for (int batches = 0; batches < PingQueue::kMaxBatches; ++batches) {
    if (lane != nullptr && lane->queue.hasWaiting()) return;
    due_.clear();
    tasks_.takeDue(task, until, lane == nullptr ? PingQueue::kBatch : lane->queue.room(), due_,
                   instant.mono);
    if (due_.empty()) return;
    if (lane == nullptr) {
      counts_.skipped += due_.size();
      continue;
    }
    const plan::AddressList& destinations = tasks_[task].assignment->destinations;
    for (const ProbeSchedule::Due& due : due_) __builtin_prefetch(&destinations[due.target]);
    for (const ProbeSchedule::Due& due : due_) {
      ping({task, due.target, pace_.departure(due.due_mono)}, instant);
    }
    if (lane->queue.room() == 0) leave(*lane);
  }
}

void Prober::ping(const Ping& ping, const Instant& now) {
  const LaneRoute& route = routes_[ping.task];
  const Exchange* exchange = route.lane->queue.open(ping, nonces_.next(), now);
  if (exchange == nullptr) return;
  const net::Destination to =
      net::destinationOf(tasks_[ping.task].assignment->destinations[ping.target], route.route.port);
  wire::ProbeMessage message = exchanges_.pingOf(*exchange);
  message.incarnation = context_->incarnation;
  wire::write(message, route.lane->outbox->add(to.address, to.length, route.control, message.length,
                                               {kPingTag, exchange->id}));
  route.lane->queue.add(ping, exchange->id);
}

void Prober::leave(Lane& lane) {
  if (lane.queue.empty()) return;
  lane.queue.stamp(Instant::now());
  const auto outcome = lane.outbox->flush(*lane.socket, *scratch_, [&](net::TxTag tag, int) {
    exchanges_.failed(tag.id, Failure::kUnreachable);
  });
  const std::size_t unsent = outcome == net::Outbox::Outcome::kBlocked ? lane.outbox->size() : 0;
  lane.outbox->clear();
  lane.queue.finish(unsent);
}

Nanos Prober::retryAt() const {
  Nanos next = kNever;
  for (const Lane& lane : lanes_) next = std::min(next, lane.queue.retryAt());
  return next;
}

// While PINGs wait for room on one socket, nothing is sent on any.
Nanos Prober::nextSend() const {
  const Nanos retry = retryAt();
  return retry != kNever ? retry : pace_.departure(tasks_.nextDue());
}

Nanos Prober::nextWake() const {
  return std::min({nextSend(), tasks_.nextClose(), exchanges_.nextWake()});
}

Distribution Prober::takeLateness() { return std::exchange(counts_.lateness, {}); }

}  // namespace pingloom::probe::udp
