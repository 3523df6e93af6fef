// The receiving side of the requester: responses, NAKs and timeouts.
#include <algorithm>

#include "rdma/soft/rc/psn.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::rdma::soft {
namespace {

// Used until a round trip has been measured.
constexpr Nanos kFirstGapDelay = kMillisecond;
constexpr Nanos kMinGapDelay = 20 * kMicrosecond;

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
      return executed(psn + 1, now_mono);
    case SyndromeKind::kNotReady:
      executed(psn, now_mono);
      return notReady(syndrome, psn, now_mono);
    case SyndromeKind::kNak:
      executed(psn, now_mono);
      if (syndrome != kNakSequence) return refused(syndrome, psn);
      return missed(psn, now_mono);
    case SyndromeKind::kReserved:
      return drops_.add(RcDrop::kResponse);
  }
}

// One gap causes many NAKs, more so with reordering. Retransmitted packets get the time to arrive
// before the next NAK counts.
void Requester::missed(std::uint64_t psn, Nanos now_mono) {
  missed_ = psn;
  missed_mono_ = std::max(now_mono, went_back_mono_ + gapDelay());
  if (missed_mono_ == now_mono) elapse(now_mono);
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

void Requester::notReady(std::uint8_t syndrome, std::uint64_t psn, Nanos now_mono) {
  if (hold_until_mono_ != kNever) return;  // it belongs to the same round
  if (not_ready_left_ == 0) {
    return fail(RcStatus::kRnrExceeded, "the peer had no room for an immediate, too often");
  }
  if (not_ready_left_ != kNoEnd) --not_ready_left_;
  goBack(psn, furthest_, now_mono);
  hold_until_mono_ = now_mono + notReadyWait(syndrome);
  overdue_mono_ = hold_until_mono_ + options_.timeout;
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
  next_ = std::max(next_, oldest_);
  std::erase_if(asked_, [this](std::uint64_t end) { return end <= oldest_; });
}

// Called when a response later than the oldest missing one has arrived.
void Requester::watchGap(Nanos now_mono) {
  if (oldest_ >= executed_) {
    gap_mono_ = kNever;
  } else if (gap_mono_ == kNever || gap_ != oldest_) {
    gap_ = oldest_;
    gap_delay_ = gapDelay();
    gap_mono_ = now_mono + gap_delay_;
  }
}

Nanos Requester::gapDelay() const {
  if (round_trip_ == 0) return std::min(kFirstGapDelay, options_.timeout);
  return std::clamp(round_trip_ / 2, std::min(kMinGapDelay, options_.timeout), options_.timeout);
}

void Requester::sampleRoundTrip(std::uint64_t psn, Nanos now_mono) {
  if (sample_mono_ == kNever || psn < sample_psn_) return;
  const Nanos sample = std::max<Nanos>(now_mono - sample_mono_, 1);
  round_trip_ = round_trip_ == 0 ? sample : (7 * round_trip_ + sample) / 8;
  sample_mono_ = kNever;
}

void Requester::goBack(std::uint64_t from, std::uint64_t until, Nanos now_mono) {
  const bool under_way = next_ < furthest_;
  again_until_ = under_way ? std::max(again_until_, until) : until;
  next_ = std::min(next_, from);
  sample_mono_ = kNever;  // an answer could belong to either transmission
  went_back_mono_ = now_mono;
  missed_mono_ = kNever;
}

void Requester::elapse(Nanos now_mono) {
  if (failed_) return;
  if (now_mono >= hold_until_mono_) hold_until_mono_ = kNever;
  if (now_mono >= missed_mono_) {
    missed_mono_ = kNever;
    if (executed_ <= missed_) {  // the peer still misses it
      burst_ = std::max(burst_ / 2, kMinBurst);
      goBack(missed_, furthest_, now_mono);
    }
  }
  if (now_mono >= gap_mono_) {
    goBack(oldest_, executed_, now_mono);
    gap_delay_ = std::min(4 * gap_delay_, options_.timeout);
    gap_mono_ = now_mono + gap_delay_;
  }
  if (now_mono < overdue_mono_) return;
  if (retries_left_ == 0) return fail(RcStatus::kRetriesExceeded, "the peer does not answer");
  --retries_left_;
  burst_ = kMinBurst;
  goBack(oldest_, furthest_, now_mono);
  overdue_mono_ = now_mono + options_.timeout;
}

Nanos Requester::nextWake() const {
  if (failed_) return kNever;
  return std::min({overdue_mono_, gap_mono_, missed_mono_, hold_until_mono_});
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
