#include "report/client/reporter.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include "report/client/clock.h"

namespace pingloom::report::client {
namespace {

// A thread that a library starts takes none of its program's signals.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Reporter::Reporter(const SocketName& translator, const OutboxOptions& options)
    : translator_(translator),
      writer_(std::span(buffer_).first(options.longest), options.key.has_value()),
      outbox_(options) {}

int Reporter::open(const SocketName& translator, const OutboxOptions& options,
                   std::unique_ptr<Reporter>& out) {
  std::unique_ptr<Reporter> made(new Reporter(translator, options));
  if (const int error = made->start()) return error;
  out = std::move(made);
  return 0;
}

int Reporter::start() {
  if (const int error = outbox_.open(translator_)) return error;
  try {
    startFlusher();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

void Reporter::startFlusher() {
  flusher_ = std::make_unique<Flusher>();
  const BlockedSignals blocked;
  flusher_->thread = std::thread([this, flusher = flusher_.get()] { flushLate(*flusher); });
}

Reporter::~Reporter() {
  {
    const std::lock_guard lock(mutex_);
    finish(monotonicNanos());
    outbox_.sendAll();
    stop_ = true;
    if (flusher_ != nullptr) flusher_->wake.notify_one();
  }
  if (flusher_ != nullptr) flusher_->thread.join();
}

bool Reporter::isValid(const wire::ReportItem& item) {
  const std::size_t key = item.key.size();
  const bool append = item.operation == wire::ReportOperation::kAppend;
  return (append || key != 0) && key <= wire::kMaxReportKey && !item.value.empty() &&
         item.value.size() <= wire::kMaxReportValue && (item.hops == 0 || item.hop < item.hops);
}

int Reporter::report(const wire::ReportItem& item) {
  const std::lock_guard lock(mutex_);
  if (!isValid(item)) {
    outbox_.skipOne();
    return EINVAL;
  }
  if (!writer_.hasRoom(item.key.size(), item.value.size())) finish(monotonicNanos());
  if (writer_.empty()) {
    oldest_utc_ = static_cast<std::uint64_t>(utcNanos());
    due_ = monotonicNanos() + kLinger;
    if (flusher_ == nullptr) startFlusher();
    if (flusher_->idle) flusher_->wake.notify_one();
  }
  writer_.add(item);
  ++taken_;
  return 0;
}

void Reporter::flush() {
  const std::lock_guard lock(mutex_);
  finish(monotonicNanos());
}

pingloom_reporter_status Reporter::status() {
  const std::lock_guard lock(mutex_);
  pingloom_reporter_status status = outbox_.status();
  status.taken = taken_;
  return status;
}

// Hands the datagram that is being filled to the outbox.
void Reporter::finish(std::int64_t now) {
  if (writer_.empty()) return;
  wire::ReportHead head = outbox_.head();
  head.oldest_utc = oldest_utc_;
  outbox_.add(writer_.finish(head), now);
  writer_.clear();
}

void Reporter::flushLate(Flusher& flusher) {
  pthread_setname_np(pthread_self(), "pingloom-report");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const std::int64_t now = monotonicNanos();
    if (outbox_.isBusy(now)) outbox_.work(now);
    if (!writer_.empty() && due_ <= now) finish(now);
    if (!writer_.empty()) {
      flusher.wake.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(due_ - now, 0)));
    } else if (outbox_.isBusy(now)) {
      flusher.wake.wait_for(lock, std::chrono::nanoseconds(kWorkEvery));
    } else {
      flusher.idle = true;
      flusher.wake.wait(lock);
      flusher.idle = false;
    }
  }
}

// The parent sends what was reported before the fork.
void Reporter::startAnewInChild() {
  // Its thread is not there any more, and its condition variable may be in use for ever.
  static_cast<void>(flusher_.release());
  writer_.clear();
  taken_ = 0;
  // With the parent's socket, each of the two would get replies for the other.
  static_cast<void>(outbox_.open(translator_));
}

}  // namespace pingloom::report::client
