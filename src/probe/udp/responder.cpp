#include "probe/udp/responder.h"

#include <algorithm>

namespace pingloom::probe::udp {
namespace {

constexpr auto kKernel = static_cast<std::uint8_t>(ClockSource::kKernel);

}  // namespace

Responder::Responder(net::UdpSocket& socket, const StallWatch& stalls, std::uint32_t incarnation,
                     net::RxBatch& scratch)
    : socket_(&socket),
      stalls_(&stalls),
      incarnation_(incarnation),
      scratch_(&scratch),
      waiting_(kMaxWaiting) {}

bool Responder::stalledSince(Nanos utc, const Instant& now) const {
  return utc != 0 && stalls_->stalledDuring(now.mono - (now.utc - utc), now.mono);
}

net::ControlData Responder::controlFor(const Waiting& pong, bool timestamp) const {
  net::SendOptions options;
  options.timestamp = timestamp;
  options.traffic_class = pong.traffic_class;
  if (socket_->isWildcard()) options.from = pong.from;
  return net::makeControl(options, socket_->isV6());
}

bool Responder::ping(const wire::ProbeMessage& message, const sockaddr_in6& peer,
                     socklen_t peer_length, const net::Ancillary& about, const Instant& now) {
  if (pongs_.full()) sendPongs();
  if (pongs_.full()) return false;
  if (next_ - oldest_ == kMaxWaiting) {
    acknowledge(waiting(oldest_), 0, now);
    ++oldest_;
  }
  const std::size_t headers = socket_->isV6() ? wire::kUdpV6Headers : wire::kUdpV4Headers;
  Waiting& pong = waiting(next_);
  pong = {peer,
          peer_length,
          about.traffic_class,
          stalledSince(about.kernel_utc, now),
          !wire::mayAcknowledge(message.length, headers),
          {},
          message.id,
          message.nonce,
          about.kernel_utc,
          now.mono};
  if (about.to) pong.from = *about.to;
  wire::ProbeMessage answer;
  answer.type = wire::ProbeType::kPong;
  answer.flags = pong.stalled ? wire::kFlagStalled : 0;
  answer.clock = kKernel;
  answer.id = message.id;
  answer.incarnation = incarnation_;
  answer.nonce = message.nonce;
  wire::write(answer, pongs_.add(peer, peer_length, controlFor(pong, true), wire::kPongBytes,
                                 {kPongTag, next_}));
  ++next_;
  return true;
}

bool Responder::reply(std::span<const std::uint8_t> bytes, const sockaddr_in6& peer,
                      socklen_t peer_length, const net::Ancillary& about) {
  if (acks_.full()) sendAcks();
  if (acks_.full()) return false;
  net::SendOptions options;
  options.traffic_class = about.traffic_class;
  if (socket_->isWildcard()) options.from = about.to;
  const auto room =
      acks_.add(peer, peer_length, net::makeControl(options, socket_->isV6()), bytes.size(), {});
  std::copy(bytes.begin(), bytes.end(), room.begin());
  return true;
}

void Responder::sendPongs() {
  if (pongs_.empty()) return;
  const std::size_t queued = pongs_.size();
  std::size_t failures = 0;
  pongs_.flush(*socket_, *scratch_, [&](net::TxTag tag, int) {
    waiting(tag.id).done = true;  // the prober is unreachable, so an ACK would be useless
    ++failures;
  });
  answered_ += queued - pongs_.size() - failures;
}

void Responder::departed(std::uint32_t id, Nanos t3_utc, const Instant& now) {
  if (next_ - id - 1 >= next_ - oldest_) return;  // given up earlier
  Waiting& pong = waiting(id);
  if (!pong.done) acknowledge(pong, t3_utc, now);
  while (oldest_ != next_ && waiting(oldest_).done) ++oldest_;
}

void Responder::acknowledge(Waiting& pong, Nanos t3_utc, const Instant& now) {
  if (pong.done) return;
  pong.done = true;
  if (acks_.full()) sendAcks();
  if (acks_.full()) return;  // the prober counts it as ack_lost
  const bool known = pong.t2_utc != 0 && t3_utc >= pong.t2_utc;
  wire::ProbeMessage ack;
  ack.type = wire::ProbeType::kAck;
  const bool stalled = pong.stalled || stalledSince(pong.t2_utc, now);
  ack.flags =
      static_cast<std::uint8_t>((stalled ? wire::kFlagStalled : 0) | (known ? 0 : wire::kFlagNoT3));
  ack.clock = kKernel;
  ack.id = pong.id;
  ack.incarnation = incarnation_;
  ack.nonce = pong.nonce;
  ack.responder_ns = known ? static_cast<std::uint64_t>(t3_utc - pong.t2_utc) : 0;
  wire::write(ack,
              acks_.add(pong.peer, pong.peer_length, controlFor(pong, false), wire::kAckBytes, {}));
}

void Responder::sendAcks() {
  if (!acks_.empty()) acks_.flush(*socket_, *scratch_, [](net::TxTag, int) {});
}

void Responder::giveUp(const Instant& now) {
  while (oldest_ != next_ && waiting(oldest_).since_mono + kMaxWait <= now.mono) {
    acknowledge(waiting(oldest_), 0, now);
    ++oldest_;
  }
  while (oldest_ != next_ && waiting(oldest_).done) ++oldest_;
}

Nanos Responder::nextGiveUp() const {
  if (oldest_ == next_) return kNever;
  return waiting_[oldest_ % kMaxWaiting].since_mono + kMaxWait;
}

}  // namespace pingloom::probe::udp
