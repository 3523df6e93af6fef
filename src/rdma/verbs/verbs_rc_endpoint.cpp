#include "rdma/verbs/verbs_rc_endpoint.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pingloom::rdma::verbs {
namespace {

constexpr std::uint8_t kForEver = 7;  // rnr_retries

RcStatus statusOf(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return RcStatus::kOk;
    case IBV_WC_REM_ACCESS_ERR:
      return RcStatus::kRemoteAccess;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
      return RcStatus::kRemoteInvalid;
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return RcStatus::kRemoteOperation;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return RcStatus::kRetriesExceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return RcStatus::kRnrExceeded;
    case IBV_WC_WR_FLUSH_ERR:
      return RcStatus::kFlushed;
    default:
      return RcStatus::kLocal;
  }
}

// Returns the time of all retries. A device may wait up to four times the requested timeout.
Nanos allRetries(const RcOptions& options) {
  return 4 * (Nanos{4096} << options.timeout) * (options.retries + 1);
}

}  // namespace

VerbsRcEndpoint::VerbsRcEndpoint(std::shared_ptr<RcParts> parts, const RcOptions& options,
                                 const PathDefaults& path, std::uint32_t most_reads,
                                 const RcAddress& address, UniqueFd events)
    : parts_(std::move(parts)),
      options_(options),
      path_(path),
      most_reads_(most_reads),
      address_(address),
      sends_(options.depth),
      receives_(options.immediates),
      events_(std::move(events)) {}

VerbsRcEndpoint::~VerbsRcEndpoint() {
  // otherwise its thread destroys it at the end
  if (connecting_ == nullptr) parts_->endQueuePair();
}

RcConnection VerbsRcEndpoint::connectionTo(const RcAddress& peer) const {
  const std::uint32_t reads = std::min<std::uint32_t>(most_reads_, peer.reads);
  return {address_, peer, options_, path_, reads};
}

Status VerbsRcEndpoint::connect(const RcAddress& peer) {
  if (auto checked = check(peer); !checked) return checked;
  return connected(connectRc(queuePair(), connectionTo(peer), domain().entity()));
}

Status VerbsRcEndpoint::startConnect(const RcAddress& peer) {
  if (auto checked = check(peer); !checked) return checked;
  connecting_ = RcConnecting::start(parts_, connectionTo(peer));
  state_ = RcState::kConnecting;
  if (connecting_ != nullptr) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = connecting_->descriptor();
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, event.data.fd, &event) == 0) return {};
  }
  RcEvents none;
  fail("out of threads or file descriptors", RcStatus::kFlushed, none);
  return makeError(domain().entity(), failure_);
}

Status VerbsRcEndpoint::connected(const Status& result) {
  if (connecting_ != nullptr) {
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, connecting_->descriptor(), nullptr);
    connecting_.reset();
  }
  if (result) {
    state_ = RcState::kConnected;
    return result;
  }
  RcEvents none;
  fail(result.error().reason, RcStatus::kFlushed, none);
  return result;
}

PostResult VerbsRcEndpoint::post(const RcRequest& request) {
  if (state_ != RcState::kConnected) return PostResult::kUnreachable;
  if (sends_.full()) return PostResult::kFull;
  sends_.add(request, domain());
  return PostResult::kPosted;
}

void VerbsRcEndpoint::flush() {
  if (state_ != RcState::kConnected || refused_ != 0) return;
  const bool was_idle = !sends_.isUnderWay();
  refused_ = sends_.flush(queuePair());
  if (!was_idle || !sends_.isUnderWay()) return;
  const Nanos now = monotonicNow();
  setDeadline(now);
  look_at_ = std::min(look_at_, now + kLookApart);
  ask_at_ = std::min(ask_at_, now + kLookApart);
}

Nanos VerbsRcEndpoint::nextWake() const {
  if (state_ == RcState::kFailed) return kNever;
  if (options_.busy || more_ || refused_ != 0 || sends_.blocked()) return 0;
  return std::min(look_at_, deadline_);
}

Status VerbsRcEndpoint::poll(RcEvents& events) {
  events.clear();
  if (state_ == RcState::kFailed) return makeError(domain().entity(), failure_);
  const auto result = connecting_ != nullptr ? connecting_->result() : std::nullopt;
  if (result) {
    if (auto made = connected(*result); !made) return made;
  }
  const Nanos now = monotonicNow();
  Status state = takeEvents();
  const Status looked = look(now);
  // Completions are taken even if the endpoint has failed since.
  const Status taken = takeCompletions(now, events);
  for (const Status& one : {looked, taken}) {
    if (state && !one) state = one;
  }
  if (!bad_completion_.empty()) {
    fail(bad_completion_, RcStatus::kFlushed, events);
  } else if (!state) {
    fail(state.error().reason, RcStatus::kFlushed, events);
  } else if (sends_.blocked()) {
    fail("a request's local memory or length is not valid", RcStatus::kLocal, events);
  } else if (refused_ != 0) {
    const auto refused = makeErrnoError("", "the device does not take a request", refused_);
    fail(refused.value().text(), sends_.isUnderWay() ? RcStatus::kFlushed : RcStatus::kLocal,
         events);
  } else if (now >= deadline_) {
    fail("a request was not done in time, and the device says nothing", RcStatus::kRetriesExceeded,
         events);
  }
  if (state_ == RcState::kFailed) return makeError(domain().entity(), failure_);
  return {};
}

Status VerbsRcEndpoint::takeEvents() {
  // A busy loop queries the kernel only from time to time.
  constexpr std::uint32_t kBusyPolls = 256;
  const bool asks = !options_.busy || ++polls_ % kBusyPolls == 0;
  std::array<epoll_event, 3> ready;
  const int count =
      asks ? epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0) : 0;
  for (int i = 0; i < count; ++i) {
    const int ready_fd = ready[static_cast<std::size_t>(i)].data.fd;
    if (ready_fd == parts_->completions.descriptor()) {
      parts_->completions.takeEvents();
      armed_ = false;
    } else if (connecting_ == nullptr || ready_fd != connecting_->descriptor()) {
      domain().context().takeEvents();
    }
  }
  const std::string reason = domain().context().failureOf(queuePair(), parts_->completions.get());
  if (reason.empty()) return {};
  return makeError("", reason);
}

Status VerbsRcEndpoint::look(Nanos now_mono) {
  if (now_mono < look_at_) return {};
  look_at_ = now_mono + kLookApart;
  if (access(domain().context().get()->device->dev_path, F_OK) != 0) {
    return makeError("", "the device was removed");
  }
  if (state_ != RcState::kConnected || now_mono < ask_at_) return {};
  ask_at_ = now_mono + (sends_.isUnderWay() ? kLookApart : kIdleLookApart);
  if (isReady(queuePair())) return {};
  return makeError("",
                   "the queue pair is in error: the peer asked for what is not allowed, or "
                   "the device failed");
}

Status VerbsRcEndpoint::takeCompletions(Nanos now_mono, RcEvents& events) {
  std::array<Completion, CompletionQueue::kBatch> batch;
  more_ = false;
  for (std::size_t taken = 0;;) {
    const int got = parts_->completions.take(batch);
    if (got < 0) return makeError("", "the completion queue cannot be read");
    if (got == 0) {
      if (options_.busy || armed_) break;
      if (auto armed = parts_->completions.arm(); !armed) return armed;
      armed_ = true;  // completions before arming cause no event, so take again
      continue;
    }
    for (int i = 0; i < got; ++i) handle(batch[static_cast<std::size_t>(i)], events);
    setDeadline(now_mono);
    taken += static_cast<std::size_t>(got);
    more_ = taken >= kMaxPerPoll;
    if (more_) break;
  }
  if (!bad_completion_.empty() || connecting_ != nullptr) return {};
  return receives_.repost(queuePair());
}

void VerbsRcEndpoint::handle(const Completion& completion, RcEvents& events) {
  if (completion.status != IBV_WC_SUCCESS) {
    handleFailed(completion, events);
  } else if (ReceiveRing::isReceive(completion.work_request)) {
    handleReceived(completion, events);
  } else if (!sends_.complete(completion.work_request, RcStatus::kOk, events.done)) {
    ++drops_.completion;
  }
}

void VerbsRcEndpoint::handleReceived(const Completion& completion, RcEvents& events) {
  receives_.taken();
  if ((completion.flags & IBV_WC_WITH_IMM) == 0) {
    ++drops_.send;
    return;
  }
  events.arrived.push_back({completion.immediate, completion.bytes});
}

void VerbsRcEndpoint::handleFailed(const Completion& completion, RcEvents& events) {
  const bool received = ReceiveRing::isReceive(completion.work_request);
  if (received) {
    receives_.taken();
  } else if (!sends_.complete(completion.work_request, statusOf(completion.status), events.done)) {
    ++drops_.completion;
  }
  // The first failure is the cause; later ones are flushed requests.
  if (!bad_completion_.empty()) return;
  bad_completion_ = fmt::format("a {} of queue pair {:#x} completed in error: {}",
                                received ? "receive" : "request", address_.qpn,
                                ibv_wc_status_str(completion.status));
}

void VerbsRcEndpoint::setDeadline(Nanos now_mono) {
  deadline_ = kNever;
  if (!sends_.isUnderWay()) return;
  const RcSendQueue::Stretch stretch = sends_.nextStretch();
  Nanos allowed = allRetries(options_) + kDeadlineSlack +
                  static_cast<Nanos>(stretch.bytes * (kSecond / kSlowestBytesPerSecond));
  if (stretch.needs_receive) {
    if (options_.rnr_retries == kForEver) return;
    allowed += kReceiverSlack;
  }
  deadline_ = now_mono + allowed;
}

void VerbsRcEndpoint::endQueuePair(RcEvents& events) {
  stop(queuePair());
  // Requests with a completion get the status from the device.
  std::array<Completion, CompletionQueue::kBatch> batch;
  for (std::size_t taken = 0; taken < options_.depth + options_.immediates;) {
    const int got = parts_->completions.take(batch);
    if (got <= 0) break;
    for (int i = 0; i < got; ++i) {
      const Completion& one = batch[static_cast<std::size_t>(i)];
      // A flushed completion says less than `first`.
      if (one.status != IBV_WC_WR_FLUSH_ERR) handle(one, events);
    }
    taken += static_cast<std::size_t>(got);
  }
  parts_->endQueuePair();
}

void VerbsRcEndpoint::fail(const std::string& reason, RcStatus first, RcEvents& events) {
  state_ = RcState::kFailed;
  failure_ = reason;
  // While connecting, the thread owns the queue pair, and nothing was posted on it.
  if (connecting_ == nullptr) endQueuePair(events);
  sends_.end(first, events.done);
}

std::vector<DropCount> VerbsRcEndpoint::drops() const {
  return {{"send", drops_.send}, {"completion", drops_.completion}};
}

}  // namespace pingloom::rdma::verbs
