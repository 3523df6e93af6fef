#include "rdma/soft/transmitter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/control_data.h"
#include "rdma/soft/expired.h"

namespace pingloom::rdma::soft {
namespace {

const void* endOf(const iovec& piece) {
  return static_cast<const std::uint8_t*>(piece.iov_base) + piece.iov_len;
}

}  // namespace

Transmitter::Transmitter(net::UdpSocket main, Impairments impairments, int epoll, SinkTable& sinks,
                         DropCounters& drops)
    : sinks_(sinks),
      drops_(drops),
      sockets_(std::move(main), epoll),
      fates_(std::move(impairments)),
      bytes_(new std::uint8_t[kPackets * kMaxPacketBytes]),
      slots_(kPackets),
      outbox_(0) {
  pieces_.reserve(kPackets);
}

void Transmitter::release(std::uint32_t slot) {
  --slots_[slot].flow->held;
  free_.give(slot);
}

bool Transmitter::add(const Route& route, const Packet& packet, net::TxTag tag) {
  if (free_.empty()) return false;
  FlowSocket* flow = sockets_.forLabel(route.flow_label);
  if (flow == nullptr) return false;
  const std::uint32_t slot = free_.take();
  ++flow->held;
  const Fate fate = fates_.decide(route.destination);
  Slot& made = slots_[slot];
  made.flow = flow;
  made.destination = route.destination;
  made.qpn = packet.bth.destination_qpn;
  made.traffic_class = route.traffic_class;
  made.hop_limit = route.hop_limit;
  made.tag = tag;
  made.at = bytesOf(slot);
  made.bytes = wireBytes(packet);
  made.may_join = segments_ && tag.kind == net::TxTag::kNone && !fate.delayed && !fate.duplicated &&
                  route.hop_limit == 0;
  join(slot);
  const std::span<std::uint8_t> bytes(made.at, made.bytes);
  write(packet, bytes);
  flow->icrcTo(route.destination).seal(bytes, {.id = made.place});
  impair(slot, fate);
  return true;
}

// If the previous packet is in the previous slot, this one is moved right behind its bytes, because
// the kernel copies one piece faster than two. There is room: all packets of a message have one
// size, so they end before the last one's own slot does.
void Transmitter::join(std::uint32_t slot) {
  Slot& made = slots_[slot];
  made.place = placeAfter(*made.flow, made);
  if (made.place == 0) return;
  const std::uint32_t last = made.flow->queue.back();
  if (last + 1 == slot) made.at = slots_[last].at + made.bytes;
}

// A message has packets for one queue pair only, because its peer may receive for each of its queue
// pairs by another socket, and gets the whole message by the first packet's.
std::uint16_t Transmitter::placeAfter(const FlowSocket& flow, const Slot& next) const {
  if (!next.may_join || flow.queue.empty()) return 0;
  const Slot& last = slots_[flow.queue.back()];
  const std::size_t count = last.place + std::size_t{2};
  const bool joins = last.may_join && last.bytes == next.bytes &&
                     last.destination == next.destination && last.qpn == next.qpn &&
                     last.traffic_class == next.traffic_class && count <= kMaxSegments &&
                     count * next.bytes <= kMaxMessage;
  return joins ? static_cast<std::uint16_t>(last.place + 1) : 0;
}

void Transmitter::impair(std::uint32_t slot, const Fate& fate) {
  if (fate.lost || fate.delayed) {
    if (slots_[slot].tag.kind != net::TxTag::kNone) impaired_.push_back(slots_[slot].tag);
    slots_[slot].tag = {};  // the owner was told; what the fabric does with it is not reported
  }
  if (fate.lost) {
    drops_.add(Drop::kImpairmentLoss);
    return release(slot);
  }
  hold(slot, fate.delayed, fate.delay);
  if (!fate.duplicated || free_.empty()) return;
  const std::uint32_t copy = free_.take();
  slots_[copy] = slots_[slot];
  slots_[copy].tag = {};
  slots_[copy].at = bytesOf(copy);
  ++slots_[copy].flow->held;
  std::memcpy(slots_[copy].at, slots_[slot].at, slots_[copy].bytes);
  hold(copy, fate.delayed, fate.duplicate_delay);
}

void Transmitter::hold(std::uint32_t slot, bool delayed, Nanos delay) {
  if (delayed) {
    delayed_.push_back({slot, delay});
  } else {
    slots_[slot].flow->queue.push_back(slot);
  }
}

void Transmitter::flush(Nanos now_mono) {
  departImpaired(now_mono);
  for (const auto& flow : sockets_.all()) {
    if (!flow->queue.empty()) send(*flow, flow->queue.size(), now_mono);
  }
}

void Transmitter::flushClosed(Nanos now_mono) {
  for (const auto& flow : sockets_.all()) {
    if (flow->queue.empty()) continue;
    const std::size_t open = slots_[flow->queue.back()].place + std::size_t{1};
    if (open < flow->queue.size()) send(*flow, flow->queue.size() - open, now_mono);
  }
}

void Transmitter::departImpaired(Nanos now_mono) {
  if (impaired_.empty() && delayed_.empty()) return;
  const Nanos now_utc = utcNow();
  for (const net::TxTag tag : impaired_) {
    if (PacketSink* owner = sinks_.byOwner(tag.kind)) owner->departed(tag.id, now_utc);
  }
  impaired_.clear();
  for (const Delayed& delayed : delayed_) {
    due_.push_back({now_mono + delayed.delay, ++order_, delayed.slot});
    std::push_heap(due_.begin(), due_.end());
  }
  delayed_.clear();
}

void Transmitter::elapse(Nanos now_mono) {
  if (now_mono < nextWake()) return;
  retry_mono_ = kNever;
  while (!due_.empty() && due_.front().at_mono <= now_mono) {
    const std::uint32_t slot = due_.front().slot;
    std::pop_heap(due_.begin(), due_.end());
    due_.pop_back();
    slots_[slot].flow->queue.push_back(slot);
  }
  flush(now_mono);
}

Nanos Transmitter::nextWake() const {
  return std::min(retry_mono_, due_.empty() ? kNever : due_.front().at_mono);
}

// Stages one message and returns the number of its packets.
std::size_t Transmitter::stage(const FlowSocket& flow, std::size_t at) {
  const Slot& first = slots_[flow.queue[at]];
  const std::size_t before = pieces_.size();
  std::size_t count = 0;
  do {
    const Slot& slot = slots_[flow.queue[at + count++]];
    if (count > 1 && slot.at == endOf(pieces_.back())) {
      pieces_.back().iov_len += slot.bytes;
    } else {
      pieces_.push_back({slot.at, slot.bytes});
    }
  } while (at + count < flow.queue.size() && slots_[flow.queue[at + count]].place == count);

  const net::Destination to = net::destinationOf(first.destination, kRoceUdpPort);
  const auto control =
      net::makeControl({.timestamp = first.tag.kind != net::TxTag::kNone,
                        .traffic_class = first.traffic_class,
                        .hop_limit = first.hop_limit,
                        .from = std::nullopt,
                        .segment_bytes = static_cast<std::uint16_t>(count > 1 ? first.bytes : 0)},
                       !first.destination.isV4());
  outbox_.addInPlace(to.address, to.length, control, std::span(pieces_).subspan(before), first.tag);
  return count;
}

void Transmitter::stageFrom(const FlowSocket& flow, std::size_t at, std::size_t end) {
  pieces_.clear();
  while (at < end && !outbox_.full()) {
    const std::size_t message = outbox_.size();
    at += staged_[message] = stage(flow, at);
  }
}

void Transmitter::couldNotLeave(net::TxTag tag, int error) {
  if (tag.kind == net::TxTag::kNone) {
    if (error == EIO || error == EINVAL) segments_ = false;
  } else if (PacketSink* owner = sinks_.byOwner(tag.kind)) {
    owner->failed(tag.id);
  }
}

// Sends the first `count` packets of the queue, which are whole messages.
void Transmitter::send(FlowSocket& flow, std::size_t count, Nanos now_mono) {
  std::size_t gone = 0;
  while (gone < count) {
    stageFrom(flow, gone, count);
    const std::size_t messages = outbox_.size();
    const auto outcome = outbox_.flush(
        flow.socket, scratch_, [this](net::TxTag tag, int error) { couldNotLeave(tag, error); });
    const std::size_t left = outbox_.size();
    outbox_.clear();  // the rest stays in the queue
    for (std::size_t i = 0; i < messages - left; ++i) {
      for (std::size_t end = gone + staged_[i]; gone < end; ++gone) release(flow.queue[gone]);
    }
    if (outcome == net::Outbox::Outcome::kBlocked) {
      retry_mono_ = std::min(retry_mono_, now_mono + kRetry);
      break;
    }
    // The error queue uses the socket's receive buffer, so timestamps must not accumulate in it.
    if (gone < count) flow.socket.readErrors(scratch_);
  }
  flow.queue.erase(flow.queue.begin(), flow.queue.begin() + static_cast<std::ptrdiff_t>(gone));
  report(flow);  // reports what the error queue contained meanwhile
}

void Transmitter::collect() {
  for (const auto& flow : sockets_.all()) {
    if (flow->socket.awaitsDeparture()) collect(*flow);
  }
}

void Transmitter::collect(FlowSocket& flow) {
  flow.socket.readErrors(scratch_);
  report(flow);
}

void Transmitter::report(FlowSocket& flow) {
  for (const net::Departure& departure : flow.socket.departures()) {
    PacketSink* owner = sinks_.byOwner(departure.tag.kind);
    if (owner != nullptr) owner->departed(departure.tag.id, departure.utc);
  }
  flow.socket.departures().clear();
  for (const net::Bounce& bounce : flow.socket.bounces()) cameBack(bounce);
  flow.socket.bounces().clear();
}

void Transmitter::cameBack(const net::Bounce& bounce) {
  const auto expired = expiredPacket(bounce);
  PacketSink* owner = expired ? sinks_.byQpn(expired->qpn) : nullptr;
  if (owner == nullptr) return drops_.add(Drop::kIcmpError);
  owner->expired(expired->what);
}

}  // namespace pingloom::rdma::soft
