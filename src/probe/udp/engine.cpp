#include "probe/udp/engine.h"

#include <algorithm>
#include <utility>

#include "common/log.h"

namespace pingloom::probe::udp {
namespace {

constexpr std::array<std::uint8_t, 16> kAnyV6{};
// Limits the batches read from a socket in a row, so that a flood of PINGs does not keep this host
// from sending its own.
constexpr int kMaxRounds = 16;
// Answers that could not be sent are tried again after this.
constexpr Nanos kRetry = kMillisecond;

static_assert(kPingTag != kPongTag);
static_assert(net::RxBatch::kHead >= wire::kPongMaxBytes);

}  // namespace

Engine::Engine(const AgentContext& context)
    : context_(context), prober_(context, stalls_, scratch_), tracer_(context, scratch_) {
  prober_.onLost([this](std::uint32_t task, std::uint32_t target) {
    tracer_.lost(task, target, monotonicNow());
  });
}

Status Engine::open() {
  std::vector<IpAddress> addresses = context_.listen;
  const bool everywhere = addresses.empty();
  if (everywhere) addresses = {IpAddress(), IpAddress::fromBytes16(kAnyV6.data())};
  for (const IpAddress& address : addresses) {
    auto socket = net::UdpSocket::bind(address, context_.port);
    if (socket) {
      sockets_.push_back(std::move(*socket));
    } else if (everywhere && !address.isV4()) {
      // A host without IPv6 is no error unless an IPv6 address was configured.
      log::info("udp: IPv6 is not available: {}", socket.error().text());
    } else {
      return tl::unexpected(socket.error());
    }
  }
  prober_.setSockets(sockets_);
  for (net::UdpSocket& socket : sockets_) {
    responders_.emplace_back(socket, stalls_, context_.incarnation, scratch_);
  }
  return {};
}

void Engine::setWork(const Work& work, const Instant& now) {
  guests_.setKnown(work.known_sources);
  prober_.setWork(work.assignments, now);
  tracer_.workChanged(prober_);
}

void Engine::flush(const Instant& now) {
  prober_.flush(now);
  tracer_.workChanged(prober_);
  for (Responder& responder : responders_) responder.acknowledgeAll(now);
}

void Engine::addTo(TransportCounters& counters) {
  counters.pings_sent = prober_.pingsSent();
  counters.pings_skipped = prober_.pingsSkipped();
  for (const Responder& responder : responders_) counters.pings_answered += responder.answered();
  counters.stalls = stalls_.stalls();
  counters.dropped = dropped_;
  counters.send_lateness = prober_.takeLateness();
}

// Returns how long a packet has waited in the socket.
Nanos Engine::waited(std::size_t i, const Instant& now) {
  const Nanos arrived_utc = incoming_.ancillary(i).kernel_utc;
  return arrived_utc == 0 ? 0 : std::max<Nanos>(0, now.utc - arrived_utc);
}

void Engine::readable(std::size_t socket) {
  const int descriptor = sockets_[socket].descriptor();
  Nanos behind = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    const int got = incoming_.receive(descriptor, 0);
    const Instant now = Instant::now();
    if (got < 0) {  // an ICMP error for an earlier datagram has to be read first
      hasErrors(socket, now);
      continue;
    }
    if (got > 0) behind = receive(socket, static_cast<std::size_t>(got), now);
    if (static_cast<std::size_t>(got) < net::RxBatch::kMax) return;
    if (prober_.wantsToSend(now.mono)) break;  // own PINGs come before answers
  }
  behind_ = std::max(behind_, behind);
}

// Returns how long the youngest of these packets has waited if more may follow, otherwise 0.
Nanos Engine::receive(std::size_t socket, std::size_t count, const Instant& now) {
  const Nanos longest = waited(0, now);
  const Nanos from = now.mono - longest;
  if (longest > StallWatch::kLate && !stalls_.stalledDuring(from, now.mono)) {
    stalls_.observed(from, now.mono);  // this process did not run
  }
  // T1 is read before T4, because it happened first.
  if (sockets_[socket].awaitsDeparture()) hasErrors(socket, now);
  for (std::size_t i = 0; i < count; ++i) receiveOne(socket, i, now);
  const Nanos shortest = count == net::RxBatch::kMax ? waited(count - 1, now) : 0;
  answer(socket, now);
  return shortest;
}

void Engine::receiveOne(std::size_t socket, std::size_t i, const Instant& now) {
  const net::Ancillary about = incoming_.ancillary(i);
  if (about.overflow) {
    dropped_[static_cast<std::size_t>(DropReason::kReceiveOverflow)] +=
        sockets_[socket].newlyDropped(*about.overflow);
  }
  if (wire::isEndpointQuery(incoming_.head(i))) {
    answerQuery(socket, i, about, now);
    return;
  }
  Answer answer;
  const auto error = wire::parseHead(incoming_.head(i), incoming_.length(i), answer.message);
  if (error != wire::ProbeParseError::kNone) {
    drop(reasonOf(error));
    return;
  }
  answer.from = incoming_.from(i);
  if (answer.message.type == wire::ProbeType::kPing) {
    // It has crossed the fabric, whether it is answered or not.
    prober_.tasks().countArrival(answer.message, answer.from.address,
                                 about.to.value_or(sockets_[socket].address()), now.mono);
    const bool taken = guests_.admits(answer.from.address, now.mono) && !prober_.hasWaiting() &&
                       responders_[socket].ping(answer.message, incoming_.peer(i),
                                                incoming_.peerLength(i), about, now);
    if (!taken) drop(DropReason::kRateLimited);
    return;
  }
  if (answer.message.type == wire::ProbeType::kPong && isTraceId(answer.message.id)) {
    if (!tracer_.answered(prober_, answer.message, now.mono)) drop(DropReason::kTrace);
    return;
  }
  if (about.kernel_utc != 0) answer.ticks = static_cast<std::uint64_t>(about.kernel_utc);
  if (const auto reason = prober_.answered(answer, now)) drop(*reason);
}

// Answers with this host's RDMA endpoint on the queried address, or that there is none.
void Engine::answerQuery(std::size_t socket, std::size_t i, const net::Ancillary& about,
                         const Instant& now) {
  wire::EndpointQuery query;
  if (!wire::parse(incoming_.head(i), query) || incoming_.length(i) != wire::kEndpointQueryBytes ||
      query.type != wire::EndpointQueryType::kQuery) {
    drop(DropReason::kType);
    return;
  }
  if (!guests_.admits(incoming_.from(i).address, now.mono)) {
    drop(DropReason::kRateLimited);
    return;
  }
  wire::EndpointQuery found;
  found.type = wire::EndpointQueryType::kAnswer;
  found.nonce = query.nonce;
  const IpAddress asked = about.to.value_or(sockets_[socket].address());
  const auto endpoint =
      context_.endpoint_board == nullptr ? std::nullopt : context_.endpoint_board->at(asked);
  if (endpoint) {
    found.clock = static_cast<std::uint8_t>(endpoint->clock);
    found.lid = endpoint->lid;
    found.gid = endpoint->gid;
    found.qpn = endpoint->qpn;
    found.q_key = endpoint->q_key;
    found.device = endpoint->device;
  }
  const bool queued = responders_[socket].reply(wire::bytesOf(found), incoming_.peer(i),
                                                incoming_.peerLength(i), about);
  if (!queued) drop(DropReason::kRateLimited);
}

void Engine::answer(std::size_t socket, const Instant& now) {
  responders_[socket].sendPongs();
  if (sockets_[socket].awaitsDeparture()) sockets_[socket].readErrors(scratch_);
  handleErrors(socket, now);
}

void Engine::hasErrors(std::size_t socket, const Instant& now) {
  sockets_[socket].readErrors(scratch_);
  handleErrors(socket, now);
}

void Engine::handleErrors(std::size_t socket, const Instant& now) {
  // Sending ACKs may read more errors, so more departures and bounces may be added meanwhile.
  auto& departures = sockets_[socket].departures();
  for (std::size_t i = 0; i < departures.size(); ++i) {
    const net::Departure departure = departures[i];
    if (departure.tag.kind == kPingTag) {
      prober_.sent(departure.tag.id, departure.utc);
    } else {
      responders_[socket].departed(departure.tag.id, departure.utc, now);
    }
  }
  departures.clear();
  auto& bounces = sockets_[socket].bounces();
  for (std::size_t i = 0; i < bounces.size(); ++i) bounced(net::Bounce(bounces[i]), now);
  bounces.clear();
  responders_[socket].sendAcks();
}

// A router where a hop limit ran out answers a trace packet; everything else failed a PING.
void Engine::bounced(const net::Bounce& bounce, const Instant& now) {
  wire::ProbeMessage quoted;
  const auto head = std::span(bounce.quoted).first(bounce.quoted_bytes);
  const bool is_trace = wire::parseQuoted(head, quoted) == wire::ProbeParseError::kNone &&
                        quoted.type == wire::ProbeType::kPing && isTraceId(quoted.id);
  if (!is_trace) {
    prober_.bounced(bounce);
  } else if (!bounce.expired || !tracer_.expired(prober_, quoted, bounce.sender, now.mono)) {
    drop(DropReason::kTrace);
  }
}

void Engine::elapse(const Instant& now) {
  const Nanos handled = now.mono - std::exchange(behind_, 0);
  prober_.elapse(handled, now.mono);
  tracer_.elapse(prober_, now.mono);
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    if (responders_[i].nextGiveUp() <= now.mono) responders_[i].giveUp(now, handled);
    answer(i, now);
  }
}

Nanos Engine::nextWake() const {
  Nanos next = std::min({prober_.nextWake(), tracer_.nextWake(), stalls_.nextTick()});
  for (const Responder& responder : responders_) {
    next = std::min(next, responder.nextGiveUp());
    if (responder.blocked()) next = std::min(next, monotonicNow() + kRetry);
  }
  return next;
}

}  // namespace pingloom::probe::udp
