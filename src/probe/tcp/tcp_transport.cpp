#include "probe/tcp/tcp_transport.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "common/fd.h"
#include "common/log.h"
#include "probe/loop_calls.h"
#include "probe/stall_watch.h"
#include "probe/tcp/tcp_listener.h"
#include "probe/tcp/tcp_prober.h"

namespace pingloom::probe {
namespace {

constexpr std::size_t kMaxInFlight = 65'536;
constexpr std::size_t kReservedDescriptors = 256;  // for everything else in this process

// What an epoll event is about: one of these, a listener (kFirstListener + its number), or a
// connect (ConnectTable's keys are above 2^32).
constexpr std::uint64_t kTimerKey = 0;
constexpr std::uint64_t kCallsKey = 1;
constexpr std::uint64_t kFirstListener = 2;
constexpr std::uint64_t kFirstConnect = std::uint64_t{1} << 32;

// A connect under way is a descriptor.
std::size_t mostInFlight() {
  const std::size_t limit = raiseDescriptorLimit();
  const std::size_t usable =
      limit > 2 * kReservedDescriptors ? limit - kReservedDescriptors : limit / 2;
  return std::min(usable, kMaxInFlight);
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(const AgentContext& context) : context_(context) {}
  ~TcpTransport() override;
  Status open();

  Protocol protocol() const override { return Protocol::kTcp; }
  void setWork(Work work) override;
  void startBurst(const std::shared_ptr<const Burst>& burst) override;
  std::vector<BurstPing> burstPings() override;
  void endBurst() override;
  void flush() override;
  TransportCounters counters() override;

 private:
  Status watch(int descriptor, std::uint64_t key) const;
  Status listen();
  void loop();
  void round();
  void dispatch(std::uint64_t key, Nanos now);
  void armTimer();

  const AgentContext& context_;
  UniqueFd epoll_;
  UniqueFd timer_;
  Nanos armed_mono_ = kNever;
  LoopCalls calls_;
  std::vector<TcpListener> listeners_;
  StallWatch stalls_;
  std::unique_ptr<TcpProber> prober_;
  std::uint64_t answered_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

Status TcpTransport::watch(int descriptor, std::uint64_t key) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return makeErrnoError("tcp", "cannot poll a descriptor", errno);
  }
  return {};
}

Status TcpTransport::listen() {
  std::vector<IpAddress> addresses = context_.listen;
  const bool everywhere = addresses.empty();
  if (everywhere) {
    static constexpr std::array<std::uint8_t, 16> kAnyV6{};
    addresses = {IpAddress(), IpAddress::fromBytes16(kAnyV6.data())};
  }
  for (const IpAddress& address : addresses) {
    auto listener = TcpListener::open({address, context_.port}, epoll_.get(),
                                      kFirstListener + listeners_.size());
    if (!listener) {
      // A host without IPv6 is in order where nobody asked for it.
      if (everywhere && !address.isV4() && !listeners_.empty()) {
        log::info("tcp: not answering over IPv6: {}", listener.error().text());
        continue;
      }
      return tl::unexpected(listener.error());
    }
    listeners_.push_back(std::move(*listener));
  }
  return {};
}

Status TcpTransport::open() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !timer_.valid()) {
    return makeErrnoError("tcp", "cannot make an event loop", errno);
  }
  if (auto done = watch(timer_.get(), kTimerKey); !done) return done;
  if (auto done = watch(calls_.descriptor(), kCallsKey); !done) return done;
  if (auto done = listen(); !done) return done;
  prober_ = std::make_unique<TcpProber>(context_, epoll_.get(), stalls_, mostInFlight());
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "probe-tcp");
  return {};
}

TcpTransport::~TcpTransport() {
  if (!thread_.joinable()) return;
  calls_.call([this] { stop_ = true; });
  thread_.join();
}

void TcpTransport::setWork(Work work) {
  calls_.call([&] { prober_->setWork(work, monotonicNow()); });
}

void TcpTransport::startBurst(const std::shared_ptr<const Burst>& burst) {
  calls_.call([&] { prober_->startBurst(burst, monotonicNow()); });
}

std::vector<BurstPing> TcpTransport::burstPings() {
  std::vector<BurstPing> pings;
  calls_.call([&] { pings = prober_->tasks().burstPings(); });
  return pings;
}

void TcpTransport::endBurst() {
  calls_.call([&] { prober_->endBurst(); });
}

void TcpTransport::flush() {
  calls_.call([&] { prober_->flush(monotonicNow()); });
}

TransportCounters TcpTransport::counters() {
  TransportCounters counters;
  calls_.call([&] {
    prober_->addTo(counters);
    counters.pings_answered = answered_;
    counters.stalls = stalls_.stalls();
  });
  return counters;
}

void TcpTransport::loop() {
  while (!stop_) round();
  calls_.close();
}

void TcpTransport::round() {
  armTimer();
  std::array<epoll_event, 64> events;
  const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
  const Nanos now = monotonicNow();
  stalls_.tick(now);
  for (int i = 0; i < ready; ++i) dispatch(events[static_cast<std::size_t>(i)].data.u64, now);
  for (TcpListener& listener : listeners_) listener.resume(now);
  prober_->expire(now);
  prober_->closeDue(now);
  prober_->start(now);
}

void TcpTransport::dispatch(std::uint64_t key, Nanos now) {
  if (key >= kFirstConnect) {
    prober_->onReady(key, now);
  } else if (key == kTimerKey) {
    std::uint64_t expirations = 0;
    [[maybe_unused]] const auto got = ::read(timer_.get(), &expirations, sizeof expirations);
    armed_mono_ = kNever;
  } else if (key == kCallsKey) {
    calls_.run();
  } else {
    answered_ += listeners_[key - kFirstListener].acceptReady(now);
  }
}

void TcpTransport::armTimer() {
  Nanos next = std::min(prober_->nextWake(), stalls_.nextTick());
  for (const TcpListener& listener : listeners_) next = std::min(next, listener.nextResume());
  if (next == armed_mono_) return;
  armed_mono_ = next;
  itimerspec when{};  // zero disarms
  if (next != kNever) {
    const Nanos at = std::max<Nanos>(1, next);  // what is past fires at once
    when.it_value.tv_sec = at / kSecond;
    when.it_value.tv_nsec = at % kSecond;
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

Result<std::unique_ptr<Transport>> makeTcpTransport(const AgentContext& context) {
  auto made = std::make_unique<TcpTransport>(context);
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

}  // namespace pingloom::probe
