#include "probe/udp/prober.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "probe/udp/tx_tags.h"

namespace pingloom::probe::udp {
namespace {

// A backlog of many thousand pings is sent in several calls, so that answers are read in between.
constexpr int kMaxBatches = 4;

}  // namespace

Prober::Prober(TaskList& tasks, Exchanges& exchanges, StallWatch& stalls, std::uint32_t incarnation,
               std::uint16_t port, net::RxBatch& scratch)
    : tasks_(&tasks),
      exchanges_(&exchanges),
      stalls_(&stalls),
      incarnation_(incarnation),
      port_(port),
      scratch_(&scratch) {}

Prober::Lane* Prober::laneFor(const IpAddress& source) {
  Lane* wildcard = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.socket->address() == source) return &lane;
    if (lane.socket->isWildcard() && lane.socket->isV6() != source.isV4()) wildcard = &lane;
  }
  return wildcard;
}

Prober::Route Prober::routeOf(const plan::Assignment& assignment) {
  Lane* lane = laneFor(assignment.source);
  if (lane == nullptr) return {};
  net::SendOptions options;
  options.timestamp = true;
  options.traffic_class = static_cast<std::uint8_t>(assignment.probe.traffic_class);
  if (lane->socket->isWildcard()) options.from = assignment.source;
  return {lane, net::makeControl(options, lane->socket->isV6()),
          assignment.probe.port != 0 ? assignment.probe.port : port_};
}

void Prober::taskAdded() { routes_.push_back(routeOf(*tasks_->tasks().back().assignment)); }

void Prober::lastTaskGone() {
  routes_.pop_back();
  for (Lane& lane : lanes_) {
    skipped_ +=
        std::erase_if(lane.waiting, [&](const Ping& ping) { return ping.task >= routes_.size(); });
  }
  pace_ = Pace(tasks_->tasks());
}

std::vector<std::uint32_t> Prober::route(std::vector<net::UdpSocket>& sockets) {
  lanes_.resize(sockets.size());
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    lanes_[i].socket = &sockets[i];
    skipped_ += lanes_[i].waiting.size();  // their tasks may be gone
    lanes_[i].waiting.clear();
  }
  retry_at_ = kNever;
  std::vector<std::uint32_t> stranded;
  routes_.assign(tasks_->tasks().size(), {});
  for (std::uint32_t t = 0; t < routes_.size(); ++t) {
    const plan::Assignment& assignment = *(*tasks_)[t].assignment;
    routes_[t] = routeOf(assignment);
    Lane* lane = routes_[t].lane;
    if (lane == nullptr) {
      stranded.push_back(t);
    } else {
      lane->longest = std::max<std::size_t>(lane->longest, assignment.probe.payload);
    }
  }
  for (Lane& lane : lanes_) lane.outbox = std::make_unique<net::Outbox>(lane.longest);
  pace_ = Pace(tasks_->tasks());
  return stranded;
}

void Prober::queue(const Ping& ping, const Instant& now) {
  const Route& route = routes_[ping.task];
  const plan::Assignment& assignment = *(*tasks_)[ping.task].assignment;
  const Exchange* exchange = exchanges_->open(ping.task, ping.target, nonces_.next(), now);
  if (exchange == nullptr) {
    ++skipped_;
    return;
  }
  sockaddr_storage address;
  const socklen_t address_length =
      assignment.destinations[ping.target].toSockaddr(route.port, address);
  sockaddr_in6 to;
  std::memcpy(&to, &address, sizeof to);
  wire::ProbeMessage message;
  message.type = wire::ProbeType::kPing;
  message.clock = static_cast<std::uint8_t>(ClockSource::kKernel);
  message.length = static_cast<std::uint16_t>(assignment.probe.payload);
  message.id = exchange->id;
  message.incarnation = incarnation_;
  message.nonce = exchange->nonce;
  wire::write(message, route.lane->outbox->add(to, address_length, route.control, message.length,
                                               {kPingTag, exchange->id}));
  route.lane->queued.push_back(ping);
}

void Prober::send(Lane& lane) {
  if (lane.queued.empty()) return;
  const std::size_t count = lane.queued.size();
  const Instant now = Instant::now();
  Nanos timeout = 0;
  for (std::size_t i = 0; i < count; ++i) {
    exchanges_->sending(lane.outbox->tag(i).id, now);
    timeout = std::max(timeout, (*tasks_)[lane.queued[i].task].assignment->probe.timeout);
  }
  stalls_->watchUntil(now.mono, now.mono + timeout);
  const auto outcome = lane.outbox->flush(*lane.socket, *scratch_, [&](net::TxTag tag, int) {
    exchanges_->failed(tag.id, Failure::kUnreachable);
  });
  const std::size_t left = outcome == net::Outbox::Outcome::kBlocked ? lane.outbox->size() : 0;
  for (std::size_t i = left; i > 0; --i) exchanges_->cancel(lane.outbox->tag(i - 1).id);
  lane.outbox->clear();
  for (std::size_t i = 0; i < count - left; ++i) {
    lateness_.add(static_cast<std::uint64_t>(std::abs(now.mono - lane.queued[i].due)));
  }
  sent_ += count - left;
  lane.waiting.assign(lane.queued.end() - static_cast<std::ptrdiff_t>(left), lane.queued.end());
  lane.queued.clear();
  if (left > 0) retry_at_ = now.mono + kRetry;
}

void Prober::retry(Lane& lane, Nanos now) {
  if (lane.waiting.empty()) return;
  const Instant instant = Instant::now();
  for (const Ping& ping : std::exchange(lane.waiting, {})) {
    if (now - ping.due >= (*tasks_)[ping.task].assignment->probe.interval) {
      ++skipped_;
    } else {
      queue(ping, instant);
    }
  }
  send(lane);
}

void Prober::sendTask(std::uint32_t task, Nanos until) {
  Lane* lane = routes_[task].lane;
  ProbeSchedule& schedule = (*tasks_)[task].schedule;
  const Instant instant = Instant::now();
  for (int batches = 0; batches < kMaxBatches; ++batches) {
    if (lane != nullptr && !lane->waiting.empty()) return;
    due_.clear();
    schedule.take(
        until, lane == nullptr ? net::Outbox::kMax : net::Outbox::kMax - lane->queued.size(), due_);
    if (due_.empty()) return;
    if (lane == nullptr) {
      skipped_ += due_.size();
      continue;
    }
    const plan::AddressList& destinations = (*tasks_)[task].assignment->destinations;
    for (const ProbeSchedule::Due& due : due_) __builtin_prefetch(&destinations[due.target]);
    for (const ProbeSchedule::Due& due : due_) queue({task, due.target, due.due_mono}, instant);
    if (lane->outbox->full()) send(*lane);
  }
}

void Prober::sendDue(Nanos now) {
  if (now >= retry_at_) retry_at_ = kNever;
  if (retry_at_ != kNever) return;
  for (Lane& lane : lanes_) retry(lane, now);
  const Nanos until = pace_.reach(now);
  for (std::uint32_t task = 0; task < routes_.size(); ++task) {
    if ((*tasks_)[task].schedule.nextDue() <= until) sendTask(task, until);
  }
  for (Lane& lane : lanes_) send(lane);
}

Nanos Prober::nextSend() const {
  if (retry_at_ != kNever) return retry_at_;
  return pace_.wakeFor(tasks_->nextDue());
}

Distribution Prober::takeLateness() { return std::exchange(lateness_, {}); }

}  // namespace pingloom::probe::udp
