#include "probe/rdma/port.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "probe/rdma/tags.h"

namespace pingloom::probe::rdma_ud {
namespace {

// Stalls are watched for this long after a packet, because a software clock cannot tell when the
// next packet arrives while this process stalls.
constexpr Nanos kWatchFor = 10 * kSecond;
// Verdicts wait for unread packets of an endpoint, but not longer than this.
constexpr Nanos kMaxBehind = kSecond;

void add(const std::vector<rdma::DropCount>& drops, std::vector<rdma::DropCount>& sums) {
  for (const rdma::DropCount& drop : drops) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const rdma::DropCount& known) {
      return known.reason == drop.reason;
    });
    if (same == sums.end()) {
      sums.push_back(drop);
    } else {
      same->count += drop.count;
    }
  }
}

bool isSame(const TickClock& a, const TickClock& b) {
  return a.source() == b.source() && a.kilohertz() == b.kilohertz() && a.mask() == b.mask();
}

}  // namespace

Port::Port(PortContext& context, const IpAddress& address, std::uint64_t key)
    : context_(&context),
      address_(address),
      key_(key),
      prober_(makeProber()),
      tracer_(*context.agent, context.trace_pace) {}

Port::~Port() {
  if (endpoint_ != nullptr) context_->loop->unwatch(endpoint_->descriptor());
}

std::optional<plan::Endpoint> Port::endpoint() const {
  if (endpoint_ == nullptr) return std::nullopt;
  const rdma::UdAddress& at = endpoint_->address();
  plan::Endpoint made;
  made.address = address_;
  made.gid = at.gid.bytes;
  made.lid = at.lid;
  made.qpn = at.qpn;
  made.q_key = at.q_key;
  made.device = origin_.device;
  made.clock = origin_.clock.source();
  made.mtu = static_cast<std::uint32_t>(endpoint_->maxPayload());
  return made;
}

void Port::setWork(std::vector<std::shared_ptr<const plan::Assignment>> work, const Instant& now) {
  work_ = std::move(work);
  prober_->setWork(work_, now);
  tracer_.workChanged(*prober_, now.mono);
}

void Port::peersChanged() {
  prober_->peersChanged();
  tracer_.targetsChanged();
}

void Port::flush(const Instant& now) {
  prober_->flush(now);
  tracer_.workChanged(*prober_, now.mono);
  if (responder_ == nullptr) return;
  responder_->acknowledgeAll(now);
  endpoint_->flush();
}

std::unique_ptr<Prober> Port::makeProber() {
  auto made =
      std::make_unique<Prober>(*context_->agent, origin_, context_->peers, context_->stalls);
  made->onLost([this](std::uint32_t task, std::uint32_t target) {
    tracer_.lost(task, target, monotonicNow());
  });
  return made;
}

void Port::open(const Instant& now) {
  auto opened = tryOpen(now);
  if (opened) {
    const bool traced = device_->info().source_ports_known && context_->agent->paths != nullptr;
    log::info("rdma {}: endpoint on {} with queue pair {:#x}, {} timestamps, paths {}",
              address_.text(), origin_.device, endpoint_->address().qpn,
              name(origin_.clock.source()), traced ? "traced" : "not traced");
    last_error_.clear();
    opened_mono_ = now.mono;
    changed_ = true;
    return;
  }
  retry_at_ = now.mono + backoff_.fail();
  std::string text = opened.error().text();
  if (text == last_error_) return;
  log::error("rdma {}: {}; its probes count as unreachable until this is fixed", address_.text(),
             text);
  last_error_ = std::move(text);
}

Status Port::tryOpen(const Instant& now) {
  auto device = context_->agent->open_device(address_);
  if (!device) return tl::unexpected(device.error());
  auto endpoint = (*device)->createUd(context_->agent->rdma);
  if (!endpoint) return tl::unexpected(endpoint.error());
  if (auto watched = context_->loop->watch((*endpoint)->descriptor(), EPOLLIN, key_); !watched) {
    return watched;
  }
  device_ = std::move(*device);
  endpoint_ = std::move(*endpoint);
  use(device_->info(), now);
  drained_mono_ = now.mono;
  behind_ = false;
  responder_ =
      std::make_unique<Responder>(*endpoint_, context_->stalls, context_->agent->incarnation);
  prober_->setEndpoint(endpoint_.get(), endpoint_->address().q_key);
  tracer_.setEndpoint(context_->agent->paths != nullptr ? endpoint_.get() : nullptr);
  return {};
}

// If the device or the clock has changed, the open windows are closed: a row never mixes two.
void Port::use(const rdma::DeviceInfo& info, const Instant& now) {
  const Origin origin{info.name, endpoint_->clock()};
  if (origin.device == origin_.device && isSame(origin.clock, origin_.clock)) return;
  origin_ = origin;
  prober_->flush(now);
  sent_before_ += prober_->pingsSent();
  skipped_before_ += prober_->pingsSkipped();
  prober_ = makeProber();
  prober_->setWork(work_, now);
  tracer_.workChanged(*prober_, now.mono);
}

void Port::fail(const Error& error) {
  const Nanos now = monotonicNow();
  log::warning("rdma {}: endpoint {:#x} on {} is lost: {}", address_.text(),
               endpoint_->address().qpn, origin_.device, error.text());
  context_->loop->unwatch(endpoint_->descriptor());
  prober_->setEndpoint(nullptr, 0);
  tracer_.setEndpoint(nullptr);
  answered_before_ += responder_->answered();
  add(endpoint_->drops(), dropped_before_);
  ++endpoints_lost_;
  responder_.reset();
  endpoint_.reset();
  device_.reset();
  changed_ = true;
  // The delay keeps growing if the endpoint fails soon after it was opened.
  if (now - opened_mono_ > kMaxRetry) backoff_.reset();
  retry_at_ = now + backoff_.last();
}

// Returns false if there were no events or the endpoint is gone.
bool Port::poll() {
  const Nanos before = monotonicNow();
  if (auto polled = endpoint_->poll(events_); !polled) {
    fail(polled.error());
    return false;
  }
  if (events_.empty()) {
    drained_mono_ = before;
    behind_ = false;
    return false;
  }
  handle(Instant::now());
  return true;
}

void Port::ready() {
  behind_ = true;
  for (int round = 0; round < kMaxRounds && endpoint_ != nullptr; ++round) {
    if (!poll()) return;
    if (prober_->wantsToSend(monotonicNow())) return;  // own PINGs come before answers
  }
}

void Port::handle(const Instant& now) {
  // T1 is read before T4, because it happened first.
  for (const rdma::UdSent& sent : events_.sent) {
    if (kindOf(sent.id) == SendKind::kPing) prober_->sent(numberOf(sent.id), sent);
    if (kindOf(sent.id) == SendKind::kPong) responder_->sent(numberOf(sent.id), sent, now);
  }
  for (const rdma::UdReceived& packet : events_.received) received(packet, now);
  for (const rdma::UdExpired& expired : events_.expired) {
    if (!tracer_.expired(*prober_, expired, now.mono)) drop(DropReason::kTrace);
  }
  endpoint_->flush();
}

void Port::received(const rdma::UdReceived& packet, const Instant& now) {
  Answer answer;
  const auto error = wire::parse(packet.payload, answer.message);
  if (error != wire::ProbeParseError::kNone) {
    drop(reasonOf(error));
    return;
  }
  const IpAddress from = context_->peers.addressOf(packet.from, packet.qpn);
  if (answer.message.type == wire::ProbeType::kPing) {
    ping(answer.message, packet, from, now);
    return;
  }
  if (answer.message.type == wire::ProbeType::kPong && isTraceId(answer.message.id)) {
    if (!tracer_.answered(*prober_, answer.message, now.mono)) drop(DropReason::kTrace);
    return;
  }
  answer.from = {from, 0};
  answer.ticks = packet.ticks;
  if (const auto reason = prober_->answered(answer, now)) drop(*reason);
}

void Port::ping(const wire::ProbeMessage& message, const rdma::UdReceived& packet,
                const IpAddress& from, const Instant& now) {
  if (origin_.clock.source() == ClockSource::kSoftware) {
    context_->stalls.watchUntil(now.mono, now.mono + kWatchFor);
  }
  if ((message.q_key & rdma::kPrivilegedQKey) != 0) {
    drop(DropReason::kQKey);
    return;
  }
  // It has crossed the fabric, whether it is answered or not.
  prober_->tasks().countArrival(message, from, address_, now.mono);
  if (!context_->guests.admits(from, now.mono) || prober_->hasWaiting() ||
      !responder_->ping(message, packet, drained_mono_, now)) {
    drop(DropReason::kRateLimited);
  }
}

void Port::elapse(const Instant& now) {
  if (endpoint_ == nullptr && retry_at_ <= now.mono) open(now);
  if (endpoint_ != nullptr && endpoint_->nextWake() <= now.mono) ready();
  // Packets that had arrived by this wake-up have made the descriptor ready, and were read.
  if (!behind_ || endpoint_ == nullptr) drained_mono_ = now.mono;
  const Nanos handled = std::max(drained_mono_, now.mono - kMaxBehind);
  prober_->elapse(handled, now.mono);
  tracer_.elapse(*prober_, now.mono);
  if (responder_ == nullptr) return;
  responder_->elapse(now, handled);
  endpoint_->flush();
}

Nanos Port::nextWake(Nanos now) const {
  if (endpoint_ == nullptr) return std::min(prober_->nextWake(), retry_at_);
  return std::min(
      {prober_->nextWake(), responder_->nextWake(now), endpoint_->nextWake(), tracer_.nextWake()});
}

void Port::addTo(TransportCounters& counters) {
  counters.pings_sent += sent_before_ + prober_->pingsSent();
  counters.pings_skipped += skipped_before_ + prober_->pingsSkipped();
  counters.pings_answered += answered_before_;
  if (responder_ != nullptr) counters.pings_answered += responder_->answered();
  counters.send_lateness.merge(prober_->takeLateness());
  counters.endpoints_lost += endpoints_lost_;
  add(dropped_before_, counters.endpoint_dropped);
  if (endpoint_ != nullptr) add(endpoint_->drops(), counters.endpoint_dropped);
}

}  // namespace pingloom::probe::rdma_ud
