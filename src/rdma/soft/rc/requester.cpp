// The sending side of the requester. requester_responses.cpp handles the responses, and
// requester_retransmission.cpp decides what is sent again.
#include "rdma/soft/rc/requester.h"

#include <algorithm>
#include <bit>

#include "rdma/soft/rc/psn.h"

namespace pingloom::rdma::soft {
namespace {

// Two chunks fill the window, so that one is answered while the other is requested.
std::uint32_t chunkFor(std::uint32_t window) {
  return std::bit_floor(std::clamp<std::uint32_t>(window / 2, 1, Requester::kMaxChunk));
}

}  // namespace

Requester::Requester(const RequesterOptions& options, RcDropCounters& drops)
    : options_(options),
      drops_(drops),
      window_(options.window),
      chunk_(chunkFor(options.window)),
      requests_(options.depth),
      scratch_(options.mtu),
      oldest_(widePsn(options.first_psn)),
      next_(oldest_),
      furthest_(oldest_),
      posted_(oldest_),
      executed_(oldest_),
      retries_left_(options.retries),
      not_ready_left_(options.not_ready_retries) {
  done_.reserve(options.depth);
  asked_.reserve(options.reads);
}

void Requester::setWindow(std::uint32_t packets) {
  window_ = std::clamp<std::uint32_t>(packets, 1, kWidestWindow);
  chunk_ = std::min(chunk_, chunkFor(window_));
}

bool Requester::post(const RcRequest& request) {
  if (failed_ || requests_.size() + done_.size() >= options_.depth) return false;
  QueuedRequest made = queued(request, options_.mtu);
  made.first = posted_;
  posted_ = made.end += made.first;
  requests_.push(made);
  return true;
}

bool Requester::next(Packet& out, Nanos now_mono) {
  if (failed_ || hold_until_mono_ != kNever) return false;
  if (!requests_.empty() && !requests_.front().valid) {
    fail(RcStatus::kLocal, "a request's local memory or length is wrong");
    return false;
  }
  while (next_ != posted_) {
    if (next_ < furthest_ && next_ >= again_until_) {
      next_ = furthest_;
      continue;
    }
    const QueuedRequest& request = requests_[requests_.indexOf(next_)];
    const std::uint64_t from = next_;
    out.start();
    const Step made = step(request, out);
    if (made == Step::kMustWait) return false;
    if (made == Step::kSkipped) continue;
    sent(from, now_mono);
    return true;
  }
  return false;
}

Requester::Step Requester::step(const QueuedRequest& request, Packet& out) {
  if (!request.valid) return Step::kMustWait;  // it fails once the earlier ones are done
  if (request.operation == RcOperation::kRead) return stepRead(request, out);
  return request.isAtomic() ? stepAtomic(request, out) : stepWrite(request, out);
}

// Chunks begin at fixed offsets of a READ, so that a peer that remembers its requests recognises a
// retry.
Requester::Step Requester::stepRead(const QueuedRequest& request, Packet& out) {
  const std::uint64_t chunk = (next_ - request.first) / chunk_;
  std::uint64_t end = std::min(request.first + (chunk + 1) * chunk_, request.end);
  if (next_ < furthest_) {  // a retry requests no more than is missing
    end = std::min(end, again_until_);
    while (next_ != end && has(next_)) ++next_;
    if (next_ == end) return Step::kSkipped;
    while (has(end - 1)) --end;
  } else if (asked_.size() == options_.reads) {
    return Step::kMustWait;
  }
  if (next_ != oldest_ && end - oldest_ > window_) return Step::kMustWait;
  const std::uint64_t offset = (next_ - request.first) * options_.mtu;
  out.bth.opcode = Opcode::kRcReadRequest;
  out.bth.psn = wirePsn(next_);
  out.reth.address = request.remote_address + offset;
  out.reth.rkey = request.rkey;
  out.reth.length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(request.length - offset, (end - next_) * options_.mtu));
  if (next_ >= furthest_) asked_.push_back(end);
  next_ = end;
  return Step::kMade;
}

Requester::Step Requester::stepAtomic(const QueuedRequest& request, Packet& out) {
  if (next_ - oldest_ >= window_) return Step::kMustWait;
  if (has(next_)) {
    ++next_;
    return Step::kSkipped;
  }
  const bool again = next_ < furthest_;
  if (!again && asked_.size() == options_.reads) return Step::kMustWait;
  const bool add = request.operation == RcOperation::kFetchAdd;
  out.bth.opcode = add ? Opcode::kRcFetchAdd : Opcode::kRcCompareSwap;
  out.bth.psn = wirePsn(next_);
  out.atomic = {request.remote_address, request.rkey, request.add_or_swap, request.compare};
  ++next_;
  if (!again) asked_.push_back(next_);
  return Step::kMade;
}

Requester::Step Requester::stepWrite(const QueuedRequest& request, Packet& out) {
  if (next_ < executed_) {
    next_ = std::min(request.end, executed_);
    return Step::kSkipped;
  }
  const std::uint32_t most = std::min(window_, burst_);
  if (next_ - oldest_ >= most) return Step::kMustWait;
  const std::uint64_t offset = (next_ - request.first) * options_.mtu;
  const auto size = std::min<std::uint64_t>(request.length - offset, options_.mtu);
  const bool first = next_ == request.first;
  const bool last = next_ + 1 == request.end;
  const bool immediate = request.operation == RcOperation::kWriteImmediate;
  if (last) {
    out.bth.opcode = first ? (immediate ? Opcode::kRcWriteOnlyImmediate : Opcode::kRcWriteOnly)
                           : (immediate ? Opcode::kRcWriteLastImmediate : Opcode::kRcWriteLast);
  } else {
    out.bth.opcode = first ? Opcode::kRcWriteFirst : Opcode::kRcWriteMiddle;
  }
  out.bth.psn = wirePsn(next_);
  // Acknowledges are requested often enough that the window reopens before it is used up.
  const bool ends_repetition = next_ < furthest_ && next_ + 1 == again_until_;
  out.bth.ack_request =
      last || ends_repetition || next_ % std::max<std::uint32_t>(most / 4, 1) == 0;
  out.reth = {request.remote_address, request.rkey, request.length};
  out.immediate = request.immediate;
  out.payload = gather(request, offset, size, scratch_);
  ++next_;
  return Step::kMade;
}

void Requester::sent(std::uint64_t from, Nanos now_mono) {
  if (from < furthest_) {
    ++sent_again_;
  } else {
    last_new_mono_ = now_mono;
    if (sample_mono_ == kNever) {
      sample_psn_ = from;
      sample_mono_ = now_mono;
    }
  }
  furthest_ = std::max(furthest_, next_);
  if (overdue_mono_ == kNever) overdue_mono_ = now_mono + options_.timeout;
  if (probe_mono_ == kNever) watchWrites(now_mono);
}

}  // namespace pingloom::rdma::soft
