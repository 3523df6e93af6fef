// Batches on their way: sent in the order of their ids, a few at a time, and again from the first
// unacknowledged one after a new registration or when no acknowledgement comes.
#include <algorithm>
#include <utility>

#include "agent/control_client.h"
#include "control.pb.h"

namespace pingloom::agent {
namespace {

// The frame up to the batch's own bytes, so that a stored batch is sent as it is.
std::string batchHead(std::size_t payload_bytes) {
  static constexpr auto kTag =
      static_cast<char>((wire::AgentMessage::kBatchFieldNumber << 3) | 2);  // length-delimited
  std::string head(1, kTag);
  for (; payload_bytes >= 0x80; payload_bytes >>= 7) {
    head += static_cast<char>((payload_bytes & 0x7f) | 0x80);
  }
  head += static_cast<char>(payload_bytes);
  return head;
}

}  // namespace

void ControlClient::sendBatches(Nanos now) {
  while (state_ == State::kRegistered && in_flight_.size() < kMaxInFlight &&
         in_flight_bytes_ < kMaxInFlightBytes) {
    const auto batch = batches_.next(sent_);
    if (!batch) return;
    if (!socket_.send(batchHead(batch->payload.size()), batch->payload)) return;
    ++counters_.batches_sent;
    if (batch->id <= newest_sent_) ++counters_.batches_resent;
    if (in_flight_.empty()) resend_due_ = now + resend_after_;
    in_flight_.push_back({batch->id, batch->payload.size()});
    in_flight_bytes_ += batch->payload.size();
    sent_ = batch->id;
    newest_sent_ = std::max(newest_sent_, batch->id);
  }
}

void ControlClient::restartBatches() {
  in_flight_.clear();
  in_flight_bytes_ = 0;
  sent_ = acknowledged_;
}

void ControlClient::acknowledged(BatchId id, Nanos now) {
  if (id <= acknowledged_) return;  // repeated: it was sent twice
  acknowledged_ = id;
  sent_ = std::max(sent_, id);
  while (!in_flight_.empty() && in_flight_.front().id <= id) {
    in_flight_bytes_ -= in_flight_.front().bytes;
    in_flight_.pop_front();
    ++counters_.batches_acknowledged;
  }
  batches_.acknowledge(id);
  resend_after_ = kResend;
  resend_due_ = now + resend_after_;
}

}  // namespace pingloom::agent
