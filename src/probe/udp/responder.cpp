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

net::ControlData Responder::controlFor(const Peer& peer, bool timestamp) const {
  net::SendOptions options;
  options.timestamp = timestamp;
  options.traffic_class = peer.traffic_class;
  if (socket_->isWildcard()) options.from = peer.from;
  return net::makeControl(options, socket_->isV6());
}

const Responder::Deferred::Source* Responder::sourceOf(const wire::ProbeMessage& message,
                                                       const Peer& peer, const Instant& now) {
  if (!message.deferrable()) return nullptr;
  const auto from = SocketAddress::fromSockaddr(reinterpret_cast<const sockaddr*>(&peer.address));
  const PingSource source = {from.address,  peer.from,          from.port, 0,
                             message.probe, message.incarnation};
  return deferred_.pinged(source, peer, now.mono);
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
  pong = {{peer, peer_length, about.traffic_class, about.to.value_or(IpAddress())},
          stalledSince(about.kernel_utc, now),
          !wire::mayAcknowledge(message.length, headers),
          message.id,
          message.nonce,
          about.kernel_utc,
          now.mono};
  wire::ProbeMessage answer;
  answer.type = wire::ProbeType::kPong;
  answer.flags = pong.stalled ? wire::kFlagStalled : 0;
  answer.clock = kKernel;
  answer.id = message.id;
  answer.incarnation = incarnation_;
  answer.nonce = message.nonce;
  if (!pong.done) pong.source = sourceOf(message, pong.peer, now);
  if (pong.source != nullptr) {
    ++pong.source->in_flight;
    Deferred::addTo(answer, *pong.source);
    Deferred::told(*pong.source);
  }
  const std::size_t bytes = wire::lengthOf(answer);
  wire::write(answer,
              pongs_.add(peer, peer_length, controlFor(pong.peer, true), bytes, {kPongTag, next_}));
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
    finish(waiting(tag.id));  // the prober is unreachable, so an ACK would be useless
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

void Responder::finish(Waiting& pong) {
  if (pong.done) return;
  pong.done = true;
  if (pong.source != nullptr) --pong.source->in_flight;
}

void Responder::acknowledge(Waiting& pong, Nanos t3_utc, const Instant& now) {
  if (pong.done) return;
  finish(pong);
  const bool known = pong.t2_utc != 0 && t3_utc >= pong.t2_utc;
  const bool stalled = pong.stalled || stalledSince(pong.t2_utc, now);
  const auto ns = known ? static_cast<std::uint64_t>(t3_utc - pong.t2_utc) : 0;
  if (pong.source != nullptr && ns <= wire::kMaxResidenceNs) {
    const wire::Residence residence = {pong.id, static_cast<std::uint32_t>(ns), known, stalled};
    Deferred::add(*pong.source, {pong.nonce, residence},
                  [this](const auto& source, const auto& answered) { sendAck(source, answered); });
    return;
  }
  sendAck(pong.peer, pong.nonce, {pong.id, 0, known, stalled}, ns);
}

void Responder::sendAck(const Deferred::Source& source, const Deferred::Answered& answered) {
  sendAck(source.reply, answered.nonce, answered.residence, answered.residence.responder_ns);
}

void Responder::sendAck(const Peer& peer, std::uint64_t nonce, const wire::Residence& residence,
                        std::uint64_t responder_ns) {
  if (acks_.full()) sendAcks();
  if (acks_.full()) return;  // the prober counts it as ack_lost
  wire::ProbeMessage ack;
  ack.type = wire::ProbeType::kAck;
  ack.flags = static_cast<std::uint8_t>((residence.stalled ? wire::kFlagStalled : 0) |
                                        (residence.known ? 0 : wire::kFlagNoT3));
  ack.clock = kKernel;
  ack.id = residence.id;
  ack.incarnation = incarnation_;
  ack.nonce = nonce;
  ack.responder_ns = responder_ns;
  wire::write(ack,
              acks_.add(peer.address, peer.length, controlFor(peer, false), wire::kAckBytes, {}));
}

void Responder::sendAcks() {
  if (!acks_.empty()) acks_.flush(*socket_, *scratch_, [](net::TxTag, int) {});
}

void Responder::giveUp(const Instant& now, Nanos handled) {
  while (oldest_ != next_ && waiting(oldest_).since_mono + kMaxWait <= now.mono) {
    acknowledge(waiting(oldest_), 0, now);
    ++oldest_;
  }
  while (oldest_ != next_ && waiting(oldest_).done) ++oldest_;
  deferred_.expire(handled,
                   [this](const auto& source, const auto& answered) { sendAck(source, answered); });
}

void Responder::acknowledgeAll(const Instant& now) {
  deferred_.expireAll(
      now.mono, [this](const auto& source, const auto& answered) { sendAck(source, answered); });
  sendAcks();
}

Nanos Responder::nextGiveUp() const {
  const Nanos next = deferred_.nextExpiry();
  if (oldest_ == next_) return next;
  return std::min(next, waiting_[oldest_ % kMaxWaiting].since_mono + kMaxWait);
}

}  // namespace pingloom::probe::udp
