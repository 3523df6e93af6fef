#include "rdma/soft/rc/soft_rc_endpoint.h"

#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>

#include "common/random.h"

namespace pingloom::rdma::soft {
namespace {

constexpr int kBatches = 4;  // the number of batches that one poll() receives
// The number of packets that one pump() sends, so that other endpoints of the device get their
// turn.
constexpr int kMaxConcurrent = 256;
// The amount of payload that is sent at once, so that the peer processes it while more is built.
constexpr std::size_t kEnoughToSend = 64 << 10;
// The slots of the transmitter that are reserved for UD endpoints.
constexpr std::size_t kLeftFree = Transmitter::kPackets / 4;
static_assert(ReceiveShare::kMaxPackets <= Requester::kWidestWindow);

// The longest headers around a packet.
constexpr std::size_t kIpAndUdpBytes = sizeof(ip6_hdr) + sizeof(udphdr);

Nanos timeoutOf(std::uint8_t exponent) { return Nanos{4096} << exponent; }

}  // namespace

Result<std::unique_ptr<RcEndpoint>> SoftRcEndpoint::create(SoftPort& port,
                                                           const MemoryTable& memory,
                                                           ReceiveShare& share,
                                                           const RcOptions& options) {
  std::unique_ptr<SoftRcEndpoint> made(new SoftRcEndpoint(port, memory, share, options));
  const auto place = port.sinks().add(*made);
  if (!place) return makeError(made->entity(), "too many endpoints on this device");
  made->place_ = *place;
  made->address_.qpn = place->qpn;
  // Each endpoint has its own descriptor, so that one epoll set can watch several.
  made->descriptor_.reset(fcntl(port.epoll(), F_DUPFD_CLOEXEC, 0));
  if (!made->descriptor_.valid()) return makeErrnoError(made->entity(), "dup", errno);
  return made;
}

SoftRcEndpoint::SoftRcEndpoint(SoftPort& port, const MemoryTable& memory, ReceiveShare& share,
                               const RcOptions& options)
    : port_(port), memory_(memory), share_(share), options_(options), budget_(options.unproved) {
  address_.gid = Gid::of(port.address());
  address_.psn = static_cast<std::uint32_t>(randomU64()) & kMask24;
  address_.mtu = options.mtu;
  address_.reads = options.reads;
}

SoftRcEndpoint::~SoftRcEndpoint() {
  if (place_.owner != 0) port_.sinks().remove(place_);
  if (state_ != RcState::kNew) share_.leave();
}

std::string SoftRcEndpoint::entity() const { return "soft " + port_.address().text() + " RC"; }

Status SoftRcEndpoint::connect(const RcAddress& peer) {
  if (state_ != RcState::kNew) {
    return makeError(entity(), "it is " + std::string(name(state_)) + ", not new");
  }
  const IpAddress address = peer.gid.address();
  if (address.isV4() != port_.address().isV4() || address.isUnspecified()) {
    return makeError(entity(), "the peer's address " + address.text() + " cannot be reached");
  }
  if (!isPathMtu(peer.mtu)) {
    return makeError(entity(), "the peer's MTU of " + std::to_string(peer.mtu) +
                                   " is not one of 256, 512, .. 4096");
  }
  peer_ = peer;
  mtu_ = std::min(peer.mtu, options_.mtu);
  route_ = {address, options_.flow_label, options_.traffic_class};
  share_.join();
  RequesterOptions asks;
  asks.mtu = mtu_;
  asks.depth = options_.depth;
  // A peer that permits no READs gets one at a time, and refuses it itself.
  asks.reads = std::max<std::uint32_t>(std::min(options_.reads, peer.reads), 1);
  asks.first_psn = address_.psn;
  asks.window = share_.window(mtu_);
  asks.timeout = timeoutOf(options_.timeout);
  asks.retries = options_.retries;
  asks.not_ready_retries = options_.rnr_retries;
  requester_.emplace(asks, rc_drops_);
  ResponderOptions answers;
  answers.access = options_.access;
  answers.mtu = mtu_;
  answers.reads = options_.reads;
  answers.first_psn = peer.psn;
  answers.immediates = options_.immediates;
  responder_.emplace(answers, memory_, rc_drops_);
  state_ = RcState::kConnected;
  return {};
}

void SoftRcEndpoint::peerProved() {
  budget_.lift();
  has_work_ = true;  // answers may have waited
}

PostResult SoftRcEndpoint::post(const RcRequest& request) {
  if (state_ != RcState::kConnected) return PostResult::kUnreachable;
  return requester_->post(request) ? PostResult::kPosted : PostResult::kFull;
}

void SoftRcEndpoint::flush() {
  if (state_ == RcState::kConnected) pump(monotonicNow());
}

Status SoftRcEndpoint::poll(RcEvents& events) {
  events.clear();
  const Nanos now = monotonicNow();
  port_.poll(kBatches, now);
  if (state_ == RcState::kNew) return {};
  noticeInterface();
  requester_->elapse(now);
  pump(now);
  events.done.swap(requester_->done());
  events.arrived.swap(responder_->arrived());
  if (state_ == RcState::kFailed) return makeError(entity(), why_failed_);
  return {};
}

Nanos SoftRcEndpoint::nextWake() const {
  if (options_.busy) return kAtOnce;
  const Nanos port = port_.transmitter().nextWake();
  if (state_ == RcState::kNew) return port;
  const bool lost = state_ == RcState::kConnected && !hasInterface();
  if (has_work_ || lost || requester_->hasDone() || responder_->hasArrived()) return kAtOnce;
  return std::min(port, requester_->nextWake());
}

std::vector<DropCount> SoftRcEndpoint::drops() const {
  auto all = port_.drops().plus(drops_);
  rc_drops_.appendTo(all);
  return all;
}

void SoftRcEndpoint::received(const Inbound& inbound) {
  if (state_ == RcState::kNew) return rc_drops_.add(RcDrop::kNotConnected);
  if (inbound.source != route_.destination) return rc_drops_.add(RcDrop::kPeer);
  budget_.received(ipBytes(inbound.packet));
  const Opcode opcode = inbound.packet.bth.opcode;
  if (Responder::isRequest(opcode)) {
    responder_->receive(inbound.packet);
  } else if (Requester::isResponse(opcode)) {
    requester_->receive(inbound.packet, inbound.now_mono);
  } else {
    return drops_.add(Drop::kOpcode);
  }
  has_work_ = true;
}

void SoftRcEndpoint::announced(const Reth& write) {
  const FoundMemory found = memory_.find({write.address, write.rkey, write.length}, Access::kWrite);
  if (found.bytes != nullptr) __builtin_prefetch(found.bytes, 1);
}

void SoftRcEndpoint::pump(Nanos now_mono) {
  noticeFailure();
  requester_->setWindow(share_.window(mtu_));
  has_work_ = false;
  Packet packet;
  std::size_t unsent = 0;
  for (int sent = 0; port_.transmitter().room() > kLeftFree; ++sent) {
    if (sent == kMaxConcurrent) {
      has_work_ = true;
      break;
    }
    if (!next(packet, now_mono)) break;
    if (unsent >= kEnoughToSend) {  // more follows; otherwise the call below sends everything
      port_.transmitter().flushClosed(now_mono);
      unsent = 0;
    }
    send(packet);
    unsent += packet.payload.size();
  }
  noticeFailure();
  port_.transmitter().flush(now_mono);
}

// Responses go first, because a peer waits for them. Those of an unproved peer wait until the
// budget has room for the longest one.
bool SoftRcEndpoint::next(Packet& packet, Nanos now_mono) {
  const std::size_t longest = kMaxPacketBytes - kMaxPayloadBytes + mtu_ + kIpAndUdpBytes;
  if (budget_.allows(longest) && responder_->next(packet)) return true;
  return requester_->next(packet, now_mono);
}

std::size_t SoftRcEndpoint::ipBytes(const Packet& packet) const {
  const std::size_t ip = port_.address().isV4() ? sizeof(iphdr) : sizeof(ip6_hdr);
  return ip + sizeof(udphdr) + wireBytes(packet);
}

// Without room the packet is dropped, as the network may drop it.
void SoftRcEndpoint::send(Packet& packet) {
  packet.bth.migration_done = true;  // set by all endpoints without an alternate path
  packet.bth.destination_qpn = peer_.qpn;
  budget_.sent(ipBytes(packet));
  port_.transmitter().add(route_, packet, {});
}

bool SoftRcEndpoint::hasInterface() const {
  const InterfaceState& now = port_.interface().state();
  return now.hasAddress() && now.mtu >= mtu_;
}

void SoftRcEndpoint::noticeInterface() {
  if (state_ != RcState::kConnected || hasInterface()) return;
  why_failed_ = port_.interface().state().hasAddress()
                    ? "the interface's MTU is smaller than the connection's now"
                    : "no network interface has its address any more";
  requester_->fail(RcStatus::kFlushed, why_failed_);
  state_ = RcState::kFailed;
}

// When one half fails, the other one fails too.
void SoftRcEndpoint::noticeFailure() {
  if (state_ != RcState::kConnected) return;
  if (responder_->failed()) {
    why_failed_ = responder_->whyFailed();
    requester_->fail(RcStatus::kFlushed, why_failed_);
  } else if (requester_->failed()) {
    why_failed_ = requester_->whyFailed();
  } else {
    return;
  }
  state_ = RcState::kFailed;
}

}  // namespace pingloom::rdma::soft
