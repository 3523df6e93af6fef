#include "rdma/verbs/verbs_ud_endpoint.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>

#include "rdma/verbs/async_events.h"
#include "rdma/verbs/grh.h"
#include "rdma/verbs/queue_pair.h"

namespace pingloom::rdma::verbs {

VerbsUdEndpoint::VerbsUdEndpoint(std::shared_ptr<OpenedDevice> device, Place place,
                                 const PathDefaults& defaults, const UdAddress& address,
                                 std::uint32_t mtu, bool busy, CompletionQueue completions,
                                 SendRing sends, ReceiveRing receives, QueuePairHandle queue_pair,
                                 std::unique_ptr<soft::TraceSockets> traces, UniqueFd events)
    : device_(std::move(device)),
      place_(std::move(place)),
      address_(address),
      mtu_(mtu),
      busy_(busy),
      handles_(device_, defaults),
      completions_(std::move(completions)),
      sends_(std::move(sends)),
      receives_(std::move(receives)),
      queue_pair_(std::move(queue_pair)),
      traces_(std::move(traces)),
      events_(std::move(events)) {}

void VerbsUdEndpoint::prepare(const UdPath& path) { handles_.prepare(path, monotonicNow()); }

void VerbsUdEndpoint::recheck(const UdPath& path) { handles_.recheck(path, monotonicNow()); }

std::optional<std::uint16_t> VerbsUdEndpoint::sourcePort(const UdPath& path) const {
  return sourcePortOf(place_.port_choice, labelOf(path), address_.qpn);
}

// Soft-RoCE sends no label.
std::uint32_t VerbsUdEndpoint::ipv6LabelOf(const UdPath& path) const {
  return place_.port_choice == PortChoice::kFlowLabel ? labelOf(path) : 0;
}

PostResult VerbsUdEndpoint::postLimited(const UdMessage& message) {
  const auto port = sourcePort(message.path);
  if (!port || !traces_->send(*port, ipv6LabelOf(message.path), message)) {
    return PostResult::kUnreachable;
  }
  ended_.push_back({.id = message.id, .ok = true, .ticks = std::nullopt});
  return PostResult::kPosted;
}

PostResult VerbsUdEndpoint::post(const UdMessage& message) {
  // The device would replace a privileged Q_Key by the endpoint's own one.
  if (message.payload.size() > mtu_ || (message.q_key & kPrivilegedQKey) != 0) {
    ++drops_.invalid;
    return PostResult::kUnreachable;
  }
  if (message.path.hop_limit != 0) return postLimited(message);
  const auto found = handles_.find(message.path, monotonicNow());
  if (found.result != PostResult::kPosted) return found.result;
  if (sends_.full()) return PostResult::kFull;
  sends_.add(message, *found.handle);
  return PostResult::kPosted;
}

void VerbsUdEndpoint::flush() {
  const std::size_t before = ended_.size();
  if (const int reason = sends_.flush(queue_pair_.get(), monotonicNow(), ended_); reason != 0) {
    refused_ = reason;
    drops_.not_posted += ended_.size() - before;
  }
}

Nanos VerbsUdEndpoint::nextWake() const {
  const bool traced = traces_ != nullptr && traces_->hasExpired();
  return busy_ || !ended_.empty() || refused_ != 0 || traced ? 0 : look_at_;
}

Status VerbsUdEndpoint::poll(UdEvents& events) {
  events.clear();
  if (!failure_) {
    const Nanos now = monotonicNow();
    handles_.update(now);
    Status state = look(now);
    if (state) state = takeEvents();
    if (traces_ != nullptr) traces_->takeExpired(events.expired);
    if (state) state = receives_.repost(queue_pair_.get());
    if (state) state = takeCompletions(events);
    if (!state && !failure_) failure_ = state.error();
  }
  if (!failure_) return {};
  return makeError(place_.entity, failure_->reason);
}

Status VerbsUdEndpoint::look(Nanos now_mono) {
  if (now_mono < look_at_) return {};
  look_at_ = now_mono + kLookApart;
  if (access(device_->context->device->dev_path, F_OK) == 0) return {};
  return makeError("", "the device was removed");
}

Status VerbsUdEndpoint::takeEvents() {
  // A busy loop queries the kernel only from time to time.
  constexpr std::uint32_t kBusyPolls = 256;
  if (!busy_ || ++polls_ % kBusyPolls == 0) {
    std::array<epoll_event, 3> ready;
    const int count = epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
      const int from = ready[static_cast<std::size_t>(i)].data.fd;
      if (from == completions_.descriptor()) {
        completions_.takeEvents();
        armed_ = false;
      } else if (traces_ != nullptr && from == traces_->descriptor()) {
        traces_->readErrors();
      } else if (auto state = takeAsyncEvents(device_->context.get(), place_.port, place_.gid);
                 !state) {
        return state;
      }
    }
  }
  if (refused_ == 0) return {};
  const int reason = std::exchange(refused_, 0);
  if (isReady(queue_pair_.get())) return {};
  return makeErrnoError("", "the queue pair is in error and takes no messages", reason);
}

Status VerbsUdEndpoint::takeCompletions(UdEvents& events) {
  events.sent.insert(events.sent.end(), ended_.begin(), ended_.end());
  ended_.clear();
  std::array<Completion, CompletionQueue::kBatch> batch;
  for (std::size_t taken = 0; taken < kMaxPerPoll;) {
    const int got = completions_.take(batch);
    if (got < 0) return makeError("", "the completion queue cannot be read");
    if (got == 0) {
      if (busy_ || armed_) return {};
      if (auto armed = completions_.arm(); !armed) return armed;
      armed_ = true;  // completions before arming cause no event, so take again
      continue;
    }
    for (int i = 0; i < got; ++i) handle(batch[static_cast<std::size_t>(i)], events);
    taken += static_cast<std::size_t>(got);
  }
  return {};
}

void VerbsUdEndpoint::handle(const Completion& completion, UdEvents& events) {
  if (completion.status != IBV_WC_SUCCESS) {
    handleFailed(completion, events);
  } else if (ReceiveRing::isReceive(completion.work_request)) {
    handleReceived(completion, events);
  } else {
    const bool hardware = clock().source() == ClockSource::kHardware;
    const auto sent = sends_.complete(completion.work_request, true,
                                      hardware ? std::optional(completion.ticks) : std::nullopt);
    if (sent) events.sent.push_back(*sent);
  }
}

void VerbsUdEndpoint::handleReceived(const Completion& completion, UdEvents& events) {
  const auto buffer = receives_.take(completion.work_request);
  if (completion.bytes < kGrhBytes || completion.bytes > buffer.size()) {
    ++drops_.truncated;
    return;
  }
  UdReceived received;
  received.payload = buffer.subspan(kGrhBytes, completion.bytes - kGrhBytes);
  received.qpn = completion.source_qpn;
  received.ticks = completion.ticks;
  if (!place_.roce) {
    received.from.lid = completion.source_lid;
    received.from.service_level = completion.service_level;
  }
  if (place_.roce || (completion.flags & IBV_WC_GRH) != 0) {
    const auto header = parseGrh(buffer.first<kGrhBytes>());
    if (!header) {
      ++drops_.no_header;
      return;
    }
    received.from.gid = header->source;
    received.from.traffic_class = header->traffic_class;
    received.from.flow_label = header->flow_label;
  }
  events.received.push_back(received);
}

void VerbsUdEndpoint::handleFailed(const Completion& completion, UdEvents& events) {
  const bool received = ReceiveRing::isReceive(completion.work_request);
  if (received) {
    receives_.take(completion.work_request);
  } else if (const auto sent = sends_.complete(completion.work_request, false, std::nullopt)) {
    events.sent.push_back(*sent);
  }
  // The first failure is the cause; later ones are flushed requests.
  if (failure_) return;
  failure_ = Error{"", fmt::format("a {} of queue pair {:#x} completed in error: {}",
                                   received ? "receive" : "send", address_.qpn,
                                   ibv_wc_status_str(completion.status))};
}

std::vector<DropCount> VerbsUdEndpoint::drops() const {
  return {{"truncated", drops_.truncated},
          {"no_header", drops_.no_header},
          {"not_posted", drops_.not_posted},
          {"invalid", drops_.invalid},
          {"unresolved", handles_.failures()},
          {"icmp_error", traces_ != nullptr ? traces_->otherErrors() : 0},
          {"trace_port", traces_ != nullptr ? traces_->withoutPort() : 0}};
}

}  // namespace pingloom::rdma::verbs
