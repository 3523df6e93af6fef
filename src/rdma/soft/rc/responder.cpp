#include "rdma/soft/rc/responder.h"

#include <algorithm>

#include "rdma/soft/rc/psn.h"
#include "rdma/soft/rc/shared_copy.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::rdma::soft {
namespace {

bool isLast(Opcode opcode) {
  return opcode == Opcode::kRcWriteLast || opcode == Opcode::kRcWriteLastImmediate ||
         opcode == Opcode::kRcWriteOnly || opcode == Opcode::kRcWriteOnlyImmediate;
}
bool hasImmediate(Opcode opcode) {
  return opcode == Opcode::kRcWriteLastImmediate || opcode == Opcode::kRcWriteOnlyImmediate;
}

RcDrop dropFor(AccessFault fault) {
  if (fault == AccessFault::kRkey) return RcDrop::kRkey;
  return fault == AccessFault::kBounds ? RcDrop::kBounds : RcDrop::kPermission;
}
std::string_view reasonFor(AccessFault fault) {
  if (fault == AccessFault::kRkey) return "the peer used an rkey that no region has";
  if (fault == AccessFault::kBounds) return "the peer reached beyond a region's bounds";
  return "the peer did what a region does not permit";
}

std::uint64_t perform(const Packet& packet, std::uint8_t* bytes) {
  auto* word = reinterpret_cast<std::uint64_t*>(bytes);
  const AtomicEth& atomic = packet.atomic;
  if (packet.bth.opcode == Opcode::kRcFetchAdd) {
    return __atomic_fetch_add(word, atomic.swap_or_add, __ATOMIC_SEQ_CST);
  }
  std::uint64_t before = atomic.compare;
  __atomic_compare_exchange_n(word, &before, atomic.swap_or_add, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return before;
}

}  // namespace

Responder::Responder(const ResponderOptions& options, const MemoryTable& memory,
                     RcDropCounters& drops)
    : options_(options),
      memory_(memory),
      drops_(drops),
      expected_(widePsn(options.first_psn)),
      executed_(2 * std::size_t{options.reads}) {
  responses_.reserve(2 * std::size_t{options.reads});
}

bool Responder::isRequest(Opcode opcode) { return isRcRequest(opcode); }

void Responder::receive(const Packet& packet) {
  const std::uint64_t psn = widePsnNear(packet.bth.psn, expected_);
  if (failed_) {
    // The refusal may have been lost.
    if (psn == nak_psn_) nak_due_ = true;
    return drops_.add(RcDrop::kNotConnected);
  }
  if (psn > expected_) return gap(packet, psn);
  if (psn < expected_) return duplicate(packet, psn);
  reported_.reset();
  nak_due_ = false;
  execute(packet);
  executeHeld();
}

void Responder::gap(const Packet& packet, std::uint64_t psn) {
  drops_.add(RcDrop::kSequence);
  const bool fresh = hold(packet, psn);
  const bool again = !fresh && psn <= repeated_;
  if (!fresh) repeated_ = psn;
  if (reported_ != expected_ || again) reportGap(psn);
}

// `last` is a PSN after the gap.
void Responder::reportGap(std::uint64_t last) {
  if (reported_ != expected_) repeated_ = std::max(last_held_, last);
  reported_ = expected_;
  nak_due_ = true;
  nak_ = kNakSequence;
  nak_psn_ = expected_;
}

// Returns false if the request is not held, or was held before.
bool Responder::hold(const Packet& packet, std::uint64_t psn) {
  if (psn - expected_ >= kHeld || packet.payload.size() > options_.mtu) return false;
  if (!packet.payload.empty() && !allows(options_.access, Access::kWrite)) return false;
  if (held_.empty()) held_.resize(kHeld);
  Held& place = held_[psn % kHeld];
  if (place.psn == psn) return false;
  place.psn = psn;
  place.packet = packet;
  place.payload.assign(packet.payload.begin(), packet.payload.end());
  last_held_ = std::max(last_held_, psn);
  return true;
}

// A gap was filled; the peer gets to know that, or what is missing next.
void Responder::executeHeld() {
  if (last_held_ < expected_) return;
  while (!failed_ && last_held_ >= expected_) {
    Held& place = held_[expected_ % kHeld];
    if (place.psn != expected_) break;
    place.psn = 0;
    place.packet.payload = place.payload;
    const std::uint64_t before = expected_;
    execute(place.packet);
    if (expected_ == before) break;  // it is refused, or has to come again
  }
  if (failed_) return forgetHeld();
  ack_due_ = true;
  if (last_held_ >= expected_ && !nak_due_) reportGap(last_held_);
}

void Responder::forgetHeld() {
  held_.clear();
  last_held_ = 0;
}

void Responder::execute(const Packet& packet) {
  if (packet.malformed) {
    return refuseInvalid("a request of the peer has a wrong length or padding");
  }
  switch (packet.bth.opcode) {
    case Opcode::kRcWriteFirst:
    case Opcode::kRcWriteOnly:
    case Opcode::kRcWriteOnlyImmediate:
      return beginWrite(packet);
    case Opcode::kRcSendFirst:
    case Opcode::kRcSendMiddle:
    case Opcode::kRcSendLast:
    case Opcode::kRcSendLastImmediate:
    case Opcode::kRcSendOnly:
    case Opcode::kRcSendOnlyImmediate:
      return send(packet);
    case Opcode::kRcReadRequest:
      return read(packet);
    case Opcode::kRcFetchAdd:
    case Opcode::kRcCompareSwap:
      return atomic(packet);
    default:
      return continueWrite(packet);
  }
}

// No endpoint posts receives, so a SEND that may begin finds none.
void Responder::send(const Packet& packet) {
  const Opcode opcode = packet.bth.opcode;
  const bool begins = opcode == Opcode::kRcSendFirst || opcode == Opcode::kRcSendOnly ||
                      opcode == Opcode::kRcSendOnlyImmediate;
  if (write_ || !begins) {
    return refuseInvalid("the peer's SEND does not follow the request before it");
  }
  notReady();
}

// Requests in flight must not cause a second refusal.
void Responder::notReady() {
  drops_.add(RcDrop::kNotReady);
  reported_ = expected_;
  nak_due_ = true;
  nak_ = kReceiverNotReady;
  nak_psn_ = expected_;
}

// Tells whether a new message may begin and this endpoint permits its kind.
bool Responder::mayBegin(Access wanted) {
  if (write_) {
    refuseInvalid("the peer began a request in the middle of a WRITE");
    return false;
  }
  if (!allows(options_.access, wanted)) {
    refuseInvalid("the peer's kind of request is not permitted on this endpoint");
    return false;
  }
  return true;
}

void Responder::beginWrite(const Packet& packet) {
  if (!mayBegin(Access::kWrite)) return;
  const Reth& reth = packet.reth;
  const bool only = isLast(packet.bth.opcode);
  if (reth.length > kMaxMessage || (reth.length <= options_.mtu) != only) {
    return refuseInvalid("a WRITE of the peer contradicts its length");
  }
  const RemoteRange range{reth.address, reth.rkey, reth.length};
  const FoundMemory found = memory_.find(range, Access::kWrite);
  if (found.fault != AccessFault::kNone) return refuse(found.fault);
  store(packet, {range, reth.length, found.generation});
}

void Responder::continueWrite(const Packet& packet) {
  if (!write_) return refuseInvalid("the peer goes on with a WRITE that it did not begin");
  store(packet, *write_);
}

void Responder::store(const Packet& packet, const Write& write) {
  const Opcode opcode = packet.bth.opcode;
  const auto bytes = static_cast<std::uint32_t>(packet.payload.size());
  const bool fits = isLast(opcode) ? bytes == write.left.length && bytes <= options_.mtu
                                   : bytes == options_.mtu && bytes < write.left.length;
  if (!fits) return refuseInvalid("a WRITE of the peer contradicts its length");
  if (hasImmediate(opcode) && arrived_.size() >= options_.immediates) {
    return notReady();
  }
  const FoundMemory found =
      memory_.find({write.left.address, write.left.rkey, bytes}, Access::kWrite);
  if (found.fault != AccessFault::kNone) return refuse(found.fault);
  if (bytes > 0 && found.generation != write.generation) return refuse(AccessFault::kRkey);
  copyToShared(found.bytes, packet.payload);
  if (hasImmediate(opcode)) arrived_.push_back({packet.immediate, write.whole});
  if (isLast(opcode)) {
    write_.reset();
    ++messages_;
  } else {
    if (!write_) write_ = write;
    write_->left.address += bytes;
    write_->left.length -= bytes;
  }
  ++expected_;
  if (packet.bth.ack_request) ack_due_ = true;
}

// Retries do not count, because the peer may have received its answer meanwhile.
bool Responder::hasRoomForRead() {
  const auto due = std::count_if(responses_.begin(), responses_.end(),
                                 [](const Response& response) { return !response.again; });
  if (static_cast<std::size_t>(due) < options_.reads) return true;
  refuseInvalid("the peer has more READs and atomics under way than was agreed");
  return false;
}

void Responder::read(const Packet& packet) {
  if (!mayBegin(Access::kRead) || !hasRoomForRead()) return;
  const Reth& reth = packet.reth;
  if (reth.length > kMaxMessage) return refuseInvalid("the peer's READ is too long");
  const RemoteRange range{reth.address, reth.rkey, reth.length};
  const FoundMemory found = memory_.find(range, Access::kRead);
  if (found.fault != AccessFault::kNone) return refuse(found.fault);
  Response response;
  response.first = response.next = response.message = expected_;
  response.end = expected_ + packetsOf(reth.length, options_.mtu);
  response.range = range;
  response.generation = found.generation;
  insert(response);
  remember({response.first, response.end, false, 0});
  expected_ = response.end;
  ++messages_;
}

void Responder::atomic(const Packet& packet) {
  if (!mayBegin(Access::kAtomic) || !hasRoomForRead()) return;
  if (packet.atomic.address % kAtomicBytes != 0) {
    return refuseInvalid("an atomic of the peer is not aligned");
  }
  const FoundMemory found =
      memory_.find({packet.atomic.address, packet.atomic.rkey, kAtomicBytes}, Access::kAtomic);
  if (found.fault != AccessFault::kNone) return refuse(found.fault);
  Response response;
  response.atomic = true;
  response.first = response.next = response.message = expected_;
  response.end = expected_ + 1;
  response.original = perform(packet, found.bytes);
  insert(response);
  remember({response.first, response.end, true, response.original});
  ++expected_;
  ++messages_;
}

void Responder::duplicate(const Packet& packet, std::uint64_t psn) {
  drops_.add(RcDrop::kDuplicate);
  switch (packet.bth.opcode) {
    case Opcode::kRcReadRequest:
      return readAgain(packet, psn);
    case Opcode::kRcFetchAdd:
    case Opcode::kRcCompareSwap:
      return atomicAgain(psn);
    default:
      // Behind an open gap, the peer that asks gets to know of the gap again.
      if (packet.bth.ack_request && last_held_ >= expected_ && reported_ == expected_ &&
          !nak_due_) {
        return reportGap(last_held_);
      }
      ack_due_ = true;
  }
}

// A response was lost, and the peer retries the READ or a part of it, from the first gap on, with
// address and length advanced. If the READ is still being answered, it goes back to that point;
// responses that are yet to be sent need nothing.
void Responder::readAgain(const Packet& packet, std::uint64_t psn) {
  const Reth& reth = packet.reth;
  const Executed* executed = executedAt(psn, false);
  const std::uint64_t end = psn + packetsOf(reth.length, options_.mtu);
  if (executed == nullptr || end > executed->end || reth.length > kMaxMessage) return;
  for (Response& response : responses_) {
    if (response.atomic || psn < response.first || end > response.end) continue;
    if (psn >= response.next) return;
    const std::uint64_t address = response.range.address + (psn - response.first) * options_.mtu;
    const bool same = reth.rkey == response.range.rkey && reth.address == address;
    if (end <= response.next || !same) continue;
    response.next = psn;
    response.again = true;
    return;
  }
  const RemoteRange range{reth.address, reth.rkey, reth.length};
  const FoundMemory found = memory_.find(range, Access::kRead);
  if (found.fault != AccessFault::kNone) {
    drops_.add(dropFor(found.fault));
    return fail(kNakRemoteAccess, psn, reasonFor(found.fault));
  }
  Response response;
  response.again = true;
  response.first = response.next = psn;
  response.end = end;
  response.message = executed->first;
  response.range = range;
  response.generation = found.generation;
  insert(response);
}

// An atomic is never executed twice; the answer is repeated.
void Responder::atomicAgain(std::uint64_t psn) {
  const Executed* executed = executedAt(psn, true);
  if (executed == nullptr) return;
  for (const Response& response : responses_) {
    if (response.first == psn) return;
  }
  Response response;
  response.atomic = response.again = true;
  response.first = response.next = response.message = psn;
  response.end = psn + 1;
  response.original = executed->original;
  insert(response);
}

// Without room the response is dropped. Only retries can fill it, and the peer will retry again.
void Responder::insert(const Response& response) {
  if (responses_.size() == 2 * std::size_t{options_.reads}) return;
  const auto after =
      std::upper_bound(responses_.begin(), responses_.end(), response.next,
                       [](std::uint64_t psn, const Response& other) { return psn < other.next; });
  responses_.insert(after, response);
}

void Responder::remember(const Executed& executed) {
  executed_[executed_count_++ % executed_.size()] = executed;
}

const Responder::Executed* Responder::executedAt(std::uint64_t psn, bool atomic) const {
  for (const Executed& executed : executed_) {
    if (psn >= executed.first && psn < executed.end) {
      return executed.atomic == atomic ? &executed : nullptr;
    }
  }
  return nullptr;
}

void Responder::refuse(AccessFault fault) {
  drops_.add(dropFor(fault));
  fail(kNakRemoteAccess, expected_, reasonFor(fault));
}

void Responder::refuseInvalid(std::string_view why) {
  drops_.add(RcDrop::kInvalidRequest);
  fail(kNakInvalidRequest, expected_, why);
}

// Requests before the failed one are still answered.
void Responder::fail(std::uint8_t syndrome, std::uint64_t psn, std::string_view why) {
  std::erase_if(responses_, [&](const Response& response) { return response.next >= psn; });
  failed_ = true;
  why_ = why;
  write_.reset();
  nak_due_ = true;
  nak_ = syndrome;
  nak_psn_ = psn;
}

bool Responder::next(Packet& out) {
  while (!responses_.empty()) {
    Response& response = responses_.front();
    if (response.atomic) {
      answer(kAckWithoutCredits, response.first, out);
      out.bth.opcode = Opcode::kRcAtomicAcknowledge;
      out.atomic_original = response.original;
      responses_.erase(responses_.begin());
      return true;
    }
    if (nextRead(response, out)) {
      if (response.next == response.end) responses_.erase(responses_.begin());
      return true;
    }
  }
  if (nak_due_) {
    answer(nak_, nak_psn_, out);
  } else if (ack_due_) {
    answer(kAckWithoutCredits, expected_ - 1, out);
  } else {
    return false;
  }
  nak_due_ = ack_due_ = false;  // a NAK acknowledges all earlier requests
  return true;
}

bool Responder::nextRead(Response& response, Packet& out) {
  const std::uint64_t offset = (response.next - response.first) * options_.mtu;
  RemoteRange range = response.range;
  range.address += offset;
  range.length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(response.range.length - offset, options_.mtu));
  // The region and its memory may have gone since the request arrived.
  const FoundMemory found = memory_.find(range, Access::kRead);
  const bool same = range.length == 0 || found.generation == response.generation;
  if (found.fault != AccessFault::kNone || !same) {
    drops_.add(RcDrop::kRkey);
    fail(kNakRemoteAccess, response.next, reasonFor(AccessFault::kRkey));
    return false;
  }
  const bool first = response.next == response.message;
  const bool last = response.next + 1 == response.end;
  answer(kAckWithoutCredits, response.next, out);
  // A response that continues a message is not a First; kernel rxe insists on that.
  out.bth.opcode = first ? (last ? Opcode::kRcReadResponseOnly : Opcode::kRcReadResponseFirst)
                         : (last ? Opcode::kRcReadResponseLast : Opcode::kRcReadResponseMiddle);
  out.payload = {found.bytes, range.length};
  ++response.next;
  return true;
}

void Responder::answer(std::uint8_t syndrome, std::uint64_t psn, Packet& out) const {
  out.start();
  out.bth.opcode = Opcode::kRcAcknowledge;
  out.bth.psn = wirePsn(psn);
  out.aeth = {syndrome, messages_ & kMask24};
}

}  // namespace pingloom::rdma::soft
