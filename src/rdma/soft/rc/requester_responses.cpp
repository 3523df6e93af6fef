// The receiving side of the requester: responses and NAKs. What is sent again, and when, is in
// requester_retransmission.cpp.
#include <algorithm>

#include "rdma/soft/rc/psn.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::rdma::soft {
namespace {

bool hasSyndrome(Opcode opcode) { return (formOf(opcode).headers & kAethBit) != 0; }

}  // namespace

bool Requester::isResponse(Opcode opcode) {
  switch (opcode) {
    case Opcode::kRcReadResponseFirst:
    case Opcode::kRcReadResponseMiddle:
    case Opcode::kRcReadResponseLast:
    case Opcode::kRcReadResponseOnly:
    case Opcode::kRcAcknowledge:
    case Opcode::kRcAtomicAcknowledge:
      return true;
    default:
      return false;
  }
}

void Requester::receive(const Packet& packet, Nanos now_mono) {
  if (failed_) return drops_.add(RcDrop::kNotConnected);
  const std::uint64_t psn = widePsnNear(packet.bth.psn, oldest_);
  if (!isAwaited(psn)) return;
  if (packet.bth.opcode == Opcode::kRcAcknowledge) return acknowledged(packet, psn, now_mono);
  if (hasSyndrome(packet.bth.opcode) && kindOf(packet.aeth.syndrome) != SyndromeKind::kAck) {
    return drops_.add(RcDrop::kResponse);
  }
  if (packet.bth.opcode == Opcode::kRcAtomicAcknowledge) {
    return atomicResponse(packet, psn, now_mono);
  }
  readResponse(packet, psn, now_mono);
}

bool Requester::isAwaited(std::uint64_t psn) {
  if (psn < oldest_) {
    drops_.add(RcDrop::kDuplicate);
    return false;
  }
  if (psn >= furthest_) {
    drops_.add(RcDrop::kStray);
    return false;
  }
  return true;
}

// The PSN alone determines the position, so First, Middle and Last may arrive out of order.
void Requester::readResponse(const Packet& packet, std::uint64_t psn, Nanos now_mono) {
  const QueuedRequest& request = requests_[requests_.indexOf(psn)];
  if (request.operation != RcOperation::kRead) return drops_.add(RcDrop::kStray);
  if (has(psn)) return drops_.add(RcDrop::kDuplicate);
  const std::uint64_t offset = (psn - request.first) * options_.mtu;
  if (packet.payload.size() != std::min<std::uint64_t>(request.length - offset, options_.mtu)) {
    return drops_.add(RcDrop::kResponse);
  }
  scatter(request, offset, packet.payload);
  arrived(psn, now_mono);
}

void Requester::atomicResponse(const Packet& packet, std::uint64_t psn, Nanos now_mono) {
  const QueuedRequest& request = requests_[requests_.indexOf(psn)];
  if (!request.isAtomic()) return drops_.add(RcDrop::kStray);
  if (has(psn)) return drops_.add(RcDrop::kDuplicate);
  scatter(request, 0,
          {reinterpret_cast<const std::uint8_t*>(&packet.atomic_original),
           sizeof packet.atomic_original});
  arrived(psn, now_mono);
}

void Requester::arrived(std::uint64_t psn, Nanos now_mono) {
  received_[psn % kWidestWindow] = true;
  overdue_mono_ = now_mono + options_.timeout;
  sampleRoundTrip(psn, now_mono);
  executed(psn + 1, now_mono);
}

void Requester::acknowledged(const Packet& packet, std::uint64_t psn, Nanos now_mono) {
  const std::uint8_t syndrome = packet.aeth.syndrome;
  switch (kindOf(syndrome)) {
    case SyndromeKind::kAck:
      sampleRoundTrip(psn, now_mono);
      executed(psn + 1, now_mono);
      return judgePeer(psn + 1, now_mono);
    case SyndromeKind::kNotReady:
      executed(psn, now_mono);
      return notReady(syndrome, psn, now_mono);
    case SyndromeKind::kNak:
      sampleRoundTrip(psn - 1, now_mono);
      executed(psn, now_mono);
      if (syndrome != kNakSequence) return refused(syndrome, psn);
      return missed(psn, now_mono);
    case SyndromeKind::kReserved:
      return drops_.add(RcDrop::kResponse);
  }
}

void Requester::refused(std::uint8_t syndrome, std::uint64_t psn) {
  const std::size_t index = requests_.indexOf(psn);
  switch (syndrome) {
    case kNakInvalidRequest:
      return failAt(index, RcStatus::kRemoteInvalid, "the peer took a request for invalid");
    case kNakRemoteAccess:
      return failAt(index, RcStatus::kRemoteAccess, "the peer refused access to its memory");
    case kNakRemoteOperation:
      return failAt(index, RcStatus::kRemoteOperation, "the peer could not carry out a request");
    default:
      drops_.add(RcDrop::kResponse);
  }
}

void Requester::executed(std::uint64_t psn, Nanos now_mono) {
  if (psn > executed_) {
    burst_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(burst_ + (psn - executed_), kWidestWindow));
    executed_ = psn;
  }
  advance(now_mono);
}

void Requester::advance(Nanos now_mono) {
  const std::uint64_t before = oldest_;
  while (oldest_ != furthest_) {
    const QueuedRequest& request = requests_.front();
    if (request.isWrite()) {
      oldest_ = std::max(oldest_, std::min(request.end, executed_));
    } else {
      for (; oldest_ != request.end && has(oldest_); ++oldest_) {
        received_[oldest_ % kWidestWindow] = false;
      }
    }
    if (oldest_ != request.end) break;
    finish(RcStatus::kOk);
  }
  if (oldest_ != before) progressed(now_mono);
  watchGap(now_mono);
}

void Requester::progressed(Nanos now_mono) {
  retries_left_ = options_.retries;
  not_ready_left_ = options_.not_ready_retries;
  overdue_mono_ = oldest_ == furthest_ ? kNever : now_mono + options_.timeout;
  watchWrites(now_mono);
  next_ = std::max(next_, oldest_);
  std::erase_if(asked_, [this](std::uint64_t end) { return end <= oldest_; });
}

void Requester::finish(RcStatus status) {
  const QueuedRequest& request = requests_.front();
  if (request.signalled || status != RcStatus::kOk) done_.push_back({request.id, status});
  requests_.pop();
}

void Requester::fail(RcStatus status, std::string_view why) { failAt(0, status, why); }

void Requester::failAt(std::size_t index, RcStatus status, std::string_view why) {
  if (failed_) return;
  failed_ = true;
  why_ = why;
  for (; !requests_.empty(); --index) finish(index == 0 ? status : RcStatus::kFlushed);
}

}  // namespace pingloom::rdma::soft
