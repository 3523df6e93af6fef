// Retransmission by the requester: what it sends again, when, and when it gives up.
#include <algorithm>

#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::rdma::soft {
namespace {

// Used until a round trip has been measured.
constexpr Nanos kFirstGapDelay = kMillisecond;
constexpr Nanos kMinGapDelay = 20 * kMicrosecond;

}  // namespace

// One gap causes many NAKs, more so with reordering. Retransmitted packets get the time to arrive
// before the next NAK counts, and so does a packet that a peer who holds later ones may only have
// got out of order.
void Requester::missed(std::uint64_t psn, Nanos now_mono) {
  if (repeated_ && reported_ && psn > *repeated_ + 1 && holds_ < kSureOf) ++holds_;
  if (repeated_ && psn > *repeated_) repeated_.reset();
  const bool may_come = psn < furthest_ && isWrite(psn) && holds_ > -kSureOf;
  if (missed_mono_ != kNever && missed_ == psn) return;
  missed_ = psn;
  missed_mono_ =
      std::max(may_come ? now_mono + gapDelay() : now_mono, went_back_mono_ + gapDelay());
  if (missed_mono_ == now_mono) elapse(now_mono);
}

bool Requester::isWrite(std::uint64_t psn) const {
  return !requests_.empty() && psn >= oldest_ && psn < posted_ &&
         requests_[requests_.indexOf(psn)].isWrite();
}

// Sends again what the peer reported missing.
void Requester::repair(std::uint64_t psn, Nanos now_mono) {
  if (isWrite(psn) && holds_ > -kSureOf) return repeat(psn, true, now_mono);
  burst_ = std::max(burst_ / 2, kMinBurst);
  goBack(psn, furthest_, now_mono);
}

void Requester::repeat(std::uint64_t psn, bool reported, Nanos now_mono) {
  repeated_ = psn;
  reported_ = reported;
  goBack(psn, psn + 1, now_mono);
}

// The peer has acknowledged everything before `psn` and has reported nothing missing. If that is no
// more than what was repeated for it, it holds nothing after that.
void Requester::judgePeer(std::uint64_t psn, Nanos now_mono) {
  if (!repeated_ || psn <= *repeated_) return;
  const bool no_more = psn == *repeated_ + 1 && psn == executed_ && psn < furthest_;
  const bool all_arrived = now_mono - last_new_mono_ > 4 * gapDelay();
  if (reported_ && !no_more && holds_ < kSureOf) ++holds_;
  if (reported_ && no_more && holds_ > -kSureOf) --holds_;
  repeated_.reset();
  if (!no_more || (!reported_ && !all_arrived) || !isWrite(psn)) return;
  burst_ = std::max(burst_ / 2, kMinBurst);
  goBack(psn, furthest_, now_mono);
}

// Called when something was heard of WRITEs, or the first of them was sent.
void Requester::watchWrites(Nanos now_mono) {
  probe_delay_ = std::min(4 * gapDelay(), options_.timeout);
  probe_mono_ = oldest_ != furthest_ && isWrite(oldest_) ? now_mono + probe_delay_ : kNever;
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
      repair(missed_, now_mono);
    }
  }
  if (now_mono >= probe_mono_) {
    probe_delay_ = std::min(2 * probe_delay_, options_.timeout);
    probe_mono_ = now_mono + probe_delay_;
    if (hold_until_mono_ == kNever && isWrite(oldest_)) repeat(oldest_, false, now_mono);
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
  return std::min({overdue_mono_, gap_mono_, missed_mono_, hold_until_mono_, probe_mono_});
}

}  // namespace pingloom::rdma::soft
