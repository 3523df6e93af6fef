#include "probe/rdma/responder.h"

#include <algorithm>
#include <array>

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
  std::array<std::uint8_t, wire::kAckBytes> bytes{};
  const std::size_t length = wire::write(message, bytes);
  return endpoint_->post(
      {answer.path, answer.qpn, answer.q_key, std::span(bytes).first(length), tag});
}

bool Responder::ping(const wire::ProbeMessage& message, const rdma::UdReceived& from,
                     Nanos after_mono, const Instant& now) {
  const bool had_room = next_ - oldest_ < kMaxWaiting;
  if (!had_room) {
    if (waiting(oldest_).state == State::kPongWaits || waiting(oldest_).state == State::kAckWaits) {
      --unposted_;
    }
    waiting(oldest_++).state = State::kDone;
  }
  Waiting& answer = waiting(next_);
  answer = {from.from, from.qpn,   message.q_key, message.id,        message.nonce, from.ticks,
            {},        after_mono, now.mono,      State::kPongWaits, false};
  answer.path.flow_label = answerLabel(message.answer_label);
  answer.stalled = stalledSince(answer, now);
  answer.acknowledge = wire::mayAcknowledge(message.length, wire::kRdmaHeaders);
  ++unposted_;
  postPong(next_++);
  return had_room;
}

void Responder::postPong(std::uint32_t number) {
  Waiting& answer = waiting(number);
  const PostResult result =
      post(answer, answerTo(answer, wire::ProbeType::kPong), tagOf(SendKind::kPong, number));
  if (result == PostResult::kFull || result == PostResult::kResolving) return;
  --unposted_;
  answer.state = result == PostResult::kPosted ? State::kPongSent : State::kDone;
}

void Responder::sent(std::uint32_t number, const rdma::UdSent& sent, const Instant& now) {
  if (next_ - number - 1 >= next_ - oldest_) return;  // given up earlier
  Waiting& answer = waiting(number);
  if (answer.state != State::kPongSent) return;
  if (!sent.ok) {
    answer.state = State::kDone;  // the prober is unreachable, so an ACK would be useless
  } else {
    ++answered_;
    answer.t3 = sent.ticks;
    pongLeft(answer);
    if (answer.state == State::kAckWaits) postAck(number, now);
  }
  forgetDone();
}

void Responder::pongLeft(Waiting& answer) {
  answer.state = answer.acknowledge ? State::kAckWaits : State::kDone;
  if (answer.acknowledge) ++unposted_;
}

void Responder::postAck(std::uint32_t number, const Instant& now) {
  Waiting& answer = waiting(number);
  answer.stalled = answer.stalled || stalledSince(answer, now);
  wire::ProbeMessage ack = answerTo(answer, wire::ProbeType::kAck);
  if (answer.t2 && answer.t3) {
    ack.responder_ns =
        static_cast<std::uint64_t>(endpoint_->clock().between(*answer.t2, *answer.t3));
  } else {
    ack.flags |= wire::kFlagNoT3;
  }
  const PostResult result = post(answer, ack, tagOf(SendKind::kAck, number));
  if (result == PostResult::kFull || result == PostResult::kResolving) return;
  --unposted_;
  answer.state = State::kDone;
}

void Responder::forgetDone() {
  while (oldest_ != next_ && waiting(oldest_).state == State::kDone) ++oldest_;
}

void Responder::elapse(const Instant& now) {
  for (std::uint32_t number = oldest_; number != next_; ++number) {
    Waiting& answer = waiting(number);
    const Nanos age = now.mono - answer.since_mono;
    if (answer.state == State::kPongSent && age >= kMaxDeparture) {  // its departure stays unknown
      pongLeft(answer);
    }
    if (answer.state == State::kDone || answer.state == State::kPongSent) continue;
    if (age >= kMaxWait) {
      answer.state = State::kDone;
      --unposted_;
    } else if (answer.state == State::kPongWaits) {
      postPong(number);
    } else {
      postAck(number, now);
    }
  }
  forgetDone();
}

Nanos Responder::nextWake(Nanos now) const {
  if (oldest_ == next_) return kNever;
  if (unposted_ > 0) return now + kRetry;
  return waiting_[oldest_ % kMaxWaiting].since_mono + kMaxDeparture;
}

}  // namespace pingloom::probe::rdma_ud
