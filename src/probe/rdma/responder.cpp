#include "probe/rdma/responder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/flow_labels.h"
#include "plan/plan.h"
#include "probe/rdma/tags.h"

namespace pingloom::probe::rdma_ud {

using rdma::PostResult;

namespace {

// A label beyond those of plans is not honoured: each label costs a soft device a socket, so a
// stranger could otherwise make it open and close one for each PING.
std::uint32_t answerLabel(std::uint32_t wanted) {
  return wanted <= plan::flowLabelOf(plan::kMaxPaths) ? wanted : 0;
}

}  // namespace

Responder::Responder(rdma::UdEndpoint& endpoint, const StallWatch& stalls,
                     std::uint32_t incarnation)
    : endpoint_(&endpoint), stalls_(&stalls), incarnation_(incarnation), waiting_(kMaxWaiting) {}

// Whether this process has stalled since the PING arrived, as far as that is known.
bool Responder::stalledSince(const Waiting& answer, const Instant& now) const {
  Nanos came = answer.after_mono;
  if (answer.t2 && endpoint_->clock().source() == ClockSource::kKernel) {
    came = now.mono - (now.utc - static_cast<Nanos>(*answer.t2));
  }
  return stalls_->stalledDuring(came, now.mono);
}

wire::ProbeMessage Responder::answerTo(const Waiting& answer, wire::ProbeType type) const {
  wire::ProbeMessage made;
  made.type = type;
  made.flags = answer.stalled ? wire::kFlagStalled : 0;
  made.clock = static_cast<std::uint8_t>(endpoint_->clock().source());
  made.id = answer.id;
  made.incarnation = incarnation_;
  made.nonce = answer.nonce;
  return made;
}

PostResult Responder::post(const Waiting& answer, const wire::ProbeMessage& message,
                           std::uint64_t tag) {
  std::array<std::uint8_t, wire::kPongMaxBytes> bytes{};
  const std::size_t length = wire::write(message, bytes);
  return endpoint_->post(
      {answer.peer.path, answer.peer.qpn, answer.peer.q_key, std::span(bytes).first(length), tag});
}

const Responder::Deferred::Source* Responder::sourceOf(const wire::ProbeMessage& message,
                                                       const Peer& peer, const Instant& now) {
  if (!message.deferrable()) return nullptr;
  PingSource from;
  from.address = IpAddress::fromBytes16(peer.path.gid.bytes.data());
  from.port = std::uint64_t{peer.qpn} << 16 | peer.path.lid;
  from.label = peer.path.flow_label;
  from.probe = message.probe;
  from.incarnation = message.incarnation;
  return deferred_.pinged(from, peer, now.mono);
}

bool Responder::ping(const wire::ProbeMessage& message, const rdma::UdReceived& from,
                     Nanos after_mono, const Instant& now) {
  const bool had_room = next_ - oldest_ < kMaxWaiting;
  if (!had_room) finish(waiting(oldest_++));
  Waiting& answer = waiting(next_);
  answer = {};
  answer.peer = {from.from, from.qpn, message.q_key};
  answer.peer.path.flow_label = answerLabel(message.answer_label);
  answer.id = message.id;
  answer.nonce = message.nonce;
  answer.t2 = from.ticks;
  answer.after_mono = after_mono;
  answer.since_mono = now.mono;
  answer.state = State::kPongWaits;
  answer.stalled = stalledSince(answer, now);
  answer.acknowledge = wire::mayAcknowledge(message.length, wire::kRdmaHeaders);
  if (answer.acknowledge) answer.source = sourceOf(message, answer.peer, now);
  if (answer.source != nullptr) ++answer.source->in_flight;
  ++unposted_;
  postPong(next_++);
  return had_room;
}

void Responder::postPong(std::uint32_t number) {
  Waiting& answer = waiting(number);
  wire::ProbeMessage pong = answerTo(answer, wire::ProbeType::kPong);
  if (answer.source != nullptr) Deferred::addTo(pong, *answer.source);
  const PostResult result = post(answer, pong, tagOf(SendKind::kPong, number));
  if (result == PostResult::kFull || result == PostResult::kResolving) return;
  if (result != PostResult::kPosted) {
    finish(answer);
    return;
  }
  if (answer.source != nullptr) Deferred::told(*answer.source);
  --unposted_;
  answer.state = State::kPongSent;
}

void Responder::sent(std::uint32_t number, const rdma::UdSent& sent, const Instant& now) {
  if (next_ - number - 1 >= next_ - oldest_) return;  // given up earlier
  Waiting& answer = waiting(number);
  if (answer.state != State::kPongSent) return;
  if (!sent.ok) {
    finish(answer);  // the prober is unreachable, so an ACK would be useless
  } else {
    ++answered_;
    pongLeft(number, sent.ticks, now);
  }
  forgetDone();
}

void Responder::finish(Waiting& answer) {
  if (answer.state == State::kPongWaits || answer.state == State::kAckWaits) --unposted_;
  answer.state = State::kDone;
  if (answer.source != nullptr) --std::exchange(answer.source, nullptr)->in_flight;
}

void Responder::pongLeft(std::uint32_t number, std::optional<std::uint64_t> t3,
                         const Instant& now) {
  Waiting& answer = waiting(number);
  answer.stalled = answer.stalled || stalledSince(answer, now);
  if (answer.t2 && t3) {
    answer.responder_ns = static_cast<std::uint64_t>(endpoint_->clock().between(*answer.t2, *t3));
  }
  const Deferred::Source* source = answer.source;
  const std::uint64_t ns = answer.responder_ns.value_or(0);
  finish(answer);
  if (source != nullptr && ns <= wire::kMaxResidenceNs) {
    const wire::Residence residence = {answer.id, static_cast<std::uint32_t>(ns),
                                       answer.responder_ns.has_value(), answer.stalled};
    Deferred::add(*source, {answer.nonce, residence},
                  [this](const auto& to, const auto& answered) { addAck(to, answered); });
  } else if (answer.acknowledge) {
    answer.state = State::kAckWaits;
    ++unposted_;
    if (postAck(answer)) finish(answer);
  }
}

// Posts the ACK of an exchange that no PONG has told of. If it cannot be posted now, it waits if
// there is room.
void Responder::addAck(const Deferred::Source& source, const Deferred::Answered& answered) {
  Waiting answer;
  answer.peer = source.reply;
  answer.id = answered.residence.id;
  answer.nonce = answered.nonce;
  answer.stalled = answered.residence.stalled;
  if (answered.residence.known) answer.responder_ns = answered.residence.responder_ns;
  answer.since_mono = source.pinged_mono;
  answer.state = State::kAckWaits;
  if (postAck(answer) || next_ - oldest_ == kMaxWaiting) return;
  ++unposted_;
  waiting(next_++) = answer;
}

// Returns false if it has to be tried again.
bool Responder::postAck(const Waiting& answer) {
  wire::ProbeMessage ack = answerTo(answer, wire::ProbeType::kAck);
  ack.responder_ns = answer.responder_ns.value_or(0);
  if (!answer.responder_ns) ack.flags |= wire::kFlagNoT3;
  const PostResult result = post(answer, ack, tagOf(SendKind::kAck, 0));
  return result != PostResult::kFull && result != PostResult::kResolving;
}

void Responder::forgetDone() {
  while (oldest_ != next_ && waiting(oldest_).state == State::kDone) ++oldest_;
}

void Responder::elapse(const Instant& now, Nanos handled) {
  for (std::uint32_t number = oldest_; number != next_; ++number) {
    Waiting& answer = waiting(number);
    const Nanos age = now.mono - answer.since_mono;
    if (answer.state == State::kPongSent) {
      // Its departure stays unknown.
      if (age >= kMaxDeparture) pongLeft(number, std::nullopt, now);
    } else if (answer.state == State::kPongWaits && age < kMaxWait) {
      postPong(number);
    } else if (answer.state != State::kDone && (age >= kMaxWait || postAck(answer))) {
      finish(answer);
    }
  }
  forgetDone();
  deferred_.expire(handled,
                   [this](const auto& source, const auto& answered) { addAck(source, answered); });
}

void Responder::acknowledgeAll(const Instant& now) {
  deferred_.expireAll(
      now.mono, [this](const auto& source, const auto& answered) { addAck(source, answered); });
}

Nanos Responder::nextWake(Nanos now) const {
  const Nanos next = deferred_.nextExpiry();
  if (oldest_ == next_) return next;
  if (unposted_ > 0) return now + kRetry;
  return std::min(next, waiting_[oldest_ % kMaxWaiting].since_mono + kMaxDeparture);
}

}  // namespace pingloom::probe::rdma_ud
