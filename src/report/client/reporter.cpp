#include "report/client/reporter.h"

#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <system_error>

namespace pingloom::report::client {
namespace {

std::int64_t nanosOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint32_t randomNumber() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return static_cast<std::uint32_t>(nanosOf(CLOCK_REALTIME));
}

// Whether the error is an ICMP error for an earlier datagram.
bool isBounce(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
}

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

Reporter::Reporter(const SocketName& translator, std::uint32_t number, std::size_t datagram,
                   bool keeps)
    : translator_(translator),
      number_(number),
      writer_(std::span(buffer_).first(datagram)),
      kept_(keeps ? std::make_unique<SentRing>(datagram) : nullptr) {}

int Reporter::open(const SocketName& translator, std::uint32_t number, std::size_t datagram,
                   bool keeps, std::unique_ptr<Reporter>& out) {
  std::unique_ptr<Reporter> made(new Reporter(translator, number, datagram, keeps));
  if (const int error = made->start()) return error;
  out = std::move(made);
  return 0;
}

int Reporter::connect() {
  const int family = translator_.address.ss_family;
  socket_.reset(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return errno;
  const auto* to = reinterpret_cast<const sockaddr*>(&translator_.address);
  return ::connect(socket_.get(), to, translator_.length) == 0 ? 0 : errno;
}

int Reporter::start() {
  if (const int error = connect()) return error;
  incarnation_ = randomNumber();
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
  flush();
  if (flusher_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    flusher_->wake.notify_one();
  }
  flusher_->thread.join();
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
    ++status_.skipped;
    return EINVAL;
  }
  if (!writer_.hasRoom(item.key.size(), item.value.size())) send();
  if (writer_.empty()) {
    oldest_utc_ = static_cast<std::uint64_t>(nanosOf(CLOCK_REALTIME));
    due_ = nanosOf(CLOCK_MONOTONIC) + kLinger;
    if (flusher_ == nullptr) startFlusher();
    if (flusher_->idle) flusher_->wake.notify_one();
  }
  writer_.add(item);
  ++status_.taken;
  return 0;
}

void Reporter::flush() {
  const std::lock_guard lock(mutex_);
  send();
}

pingloom_reporter_status Reporter::status() {
  const std::lock_guard lock(mutex_);
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error != 0) {
    takeBounce(error);
  }
  return status_;
}

void Reporter::send() {
  if (writer_.empty()) return;
  // A call may fail once because of the datagram before, so it is made twice.
  for (int attempt = 0; attempt < 2; ++attempt) {
    wire::ReportHead head;
    head.flags = kept_ != nullptr ? wire::kReportKeeps : 0;
    head.reporter = number_;
    head.incarnation = incarnation_;
    head.sequence = sequence_ + 1;
    head.skipped = static_cast<std::uint32_t>(status_.skipped);
    head.oldest_utc = oldest_utc_;
    const auto bytes = writer_.finish(head);
    if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      ++sequence_;
      if (kept_ != nullptr) {
        kept_->keep(sequence_, bytes);
        listen_until_ = nanosOf(CLOCK_MONOTONIC) + kListen;
      }
      ++status_.datagrams;
      last_sent_ = writer_.reports();
      status_.sent += last_sent_;
      writer_.clear();
      return;
    }
    if (!isBounce(errno)) break;
    takeBounce(errno);
  }
  drop(errno);
}

// An ICMP error tells that the datagram before did not reach anybody.
void Reporter::takeBounce(int error) {
  status_.last_error = error;
  status_.sent -= last_sent_;
  status_.skipped += last_sent_;
  last_sent_ = 0;
}

void Reporter::drop(int error) {
  status_.skipped += writer_.reports();
  status_.last_error = error;
  writer_.clear();
}

void Reporter::takeReplies() {
  std::array<std::uint8_t, wire::kMaxReportReplyBytes + 1> bytes{};
  for (int i = 0; i < kMaxReplies; ++i) {
    const auto got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) {
      if (isBounce(errno)) takeBounce(errno);
      return;
    }
    const auto reply =
        wire::parseReportReply(std::span(bytes).first(static_cast<std::size_t>(got)));
    if (!reply || reply->reporter != number_ || reply->incarnation != incarnation_) continue;
    if (reply->type != wire::ReportReplyType::kNack) continue;
    for (std::size_t r = 0; r < reply->ranges; ++r) sendAgain(reply->missing[r]);
  }
}

void Reporter::sendAgain(const wire::ReportRange& range) {
  const auto count = std::min<std::uint64_t>(range.count, kept_->datagrams());
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto datagram = kept_->find(range.first + i);
    if (datagram.empty()) continue;
    datagram[wire::kReportFlagsOffset] |= wire::kReportAgain;
    if (::send(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      return;  // the translator asks again
    }
    ++status_.repeated;
  }
}

void Reporter::flushLate(Flusher& flusher) {
  pthread_setname_np(pthread_self(), "pingloom-report");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const std::int64_t now = nanosOf(CLOCK_MONOTONIC);
    const bool listening = kept_ != nullptr && now < listen_until_;
    if (listening) takeReplies();
    if (!writer_.empty() && due_ <= now) send();
    if (!writer_.empty()) {
      flusher.wake.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(due_ - now, 0)));
    } else if (listening) {
      flusher.wake.wait_for(lock, std::chrono::nanoseconds(kListenEvery));
    } else if (kept_ == nullptr || now >= listen_until_) {
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
  // With the parent's socket, each of the two would get replies for the other.
  static_cast<void>(connect());
  if (kept_ != nullptr) kept_->clear();
  listen_until_ = 0;
  status_ = {};
  last_sent_ = 0;
  sequence_ = 0;
  incarnation_ = randomNumber();
}

}  // namespace pingloom::report::client
