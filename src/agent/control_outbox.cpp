// The part of ControlClient that delivers batches. They are sent in the order of their ids, a few
// at a time, and again from the first unacknowledged one after a registration or when no
// acknowledgement arrives. When they are held up, because the controller cannot commit or has to
// catch up with a long outage, new batches are also sent to be shown, so that the live view stays
// fresh and only history waits.
#include <algorithm>
#include <utility>

#include "agent/control_client.h"
#include "control.pb.h"

namespace pingloom::agent {
namespace {

// Returns the frame up to the batch's own bytes, so that a stored batch is sent unchanged.
std::string frameHead(int field, std::size_t payload_bytes) {
  std::string head(1, static_cast<char>((field << 3) | 2));  // length-delimited
  for (; payload_bytes >= 0x80; payload_bytes >>= 7) {
    head += static_cast<char>((payload_bytes & 0x7f) | 0x80);
  }
  head += static_cast<char>(payload_bytes);
  return head;
}

}  // namespace

void ControlClient::sendBatches(Nanos now) {
  while (state_ == State::kRegistered && in_flight_.size() < limit_ &&
         in_flight_bytes_ < kMaxInFlightBytes) {
    const auto batch = batches_.next(sent_);
    if (!batch) break;
    const std::string head =
        frameHead(wire::AgentMessage::kBatchFieldNumber, batch->payload.size());
    if (!socket_.send(head, batch->payload)) break;
    ++counters_.batches_sent;
    if (batch->id <= newest_sent_) ++counters_.batches_resent;
    if (in_flight_.empty()) flight_began_ = now;
    in_flight_.push_back({batch->id, batch->payload.size()});
    in_flight_bytes_ += batch->payload.size();
    sent_ = batch->id;
    newest_sent_ = std::max(newest_sent_, batch->id);
  }
  shown_ = std::max(shown_, sent_);
  if (state_ == State::kRegistered) showNewest();
}

// Shows the batches that were added since and had no room. A batch that cannot be sent is skipped,
// because the next window follows soon.
void ControlClient::showNewest() {
  for (std::size_t i = 0; i < kMaxInFlight && shown_ < batches_.newest(); ++i) {
    const auto batch = batches_.next(shown_);
    if (!batch) break;
    const std::string head = frameHead(wire::AgentMessage::kLiveFieldNumber, batch->payload.size());
    if (!socket_.send(head, batch->payload)) break;
    ++counters_.batches_shown;
    shown_ = batch->id;
  }
  shown_ = std::max(shown_, batches_.newest());
}

void ControlClient::restartBatches() {
  in_flight_.clear();
  in_flight_bytes_ = 0;
  sent_ = acknowledged_;
  resend_due_ = kNever;
}

// The connection preserves the order, so an answer proves that all earlier messages were read.
// Until then a batch waits in the queue, and sending it again would only make the queue longer.
void ControlClient::readUpTo(Nanos sent_mono, Nanos now) {
  if (in_flight_.empty() || sent_mono <= flight_began_ || resend_due_ != kNever) return;
  resend_due_ = now + resend_.next();
}

void ControlClient::acknowledged(wire::BatchId id, Nanos now) {
  if (id <= acknowledged_) return;  // a repetition, because the batch was sent twice
  acknowledged_ = id;
  sent_ = std::max(sent_, id);
  while (!in_flight_.empty() && in_flight_.front().id <= id) {
    in_flight_bytes_ -= in_flight_.front().bytes;
    in_flight_.pop_front();
    ++counters_.batches_acknowledged;
  }
  batches_.acknowledge(id);
  limit_ = kMaxInFlight;
  resend_.reset();
  resend_due_ = kNever;
  flight_began_ = now;
}

}  // namespace pingloom::agent
