#include "probe/udp/udp_transport.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "probe/loop_calls.h"
#include "probe/udp/udp_engine.h"

namespace pingloom::probe {
namespace {

constexpr Nanos kNever = INT64_MAX;

// What an epoll event is about: one of these, or a socket (kFirstSocket + its number).
constexpr std::uint64_t kTimerKey = 0;
constexpr std::uint64_t kCallsKey = 1;
constexpr std::uint64_t kFirstSocket = 2;

class UdpTransport final : public Transport {
 public:
  explicit UdpTransport(const AgentContext& context) : engine_(context) {}
  ~UdpTransport() override;
  Status open();

  Protocol protocol() const override { return Protocol::kUdp; }
  void setWork(Work work) override;
  void flush() override;
  TransportCounters counters() override;

 private:
  Status watch(int descriptor, std::uint32_t events, std::uint64_t key) const;
  void loop();
  void round();
  void dispatch(const epoll_event& event, const Instant& now);
  void armTimer(Nanos now);

  UniqueFd epoll_;
  UniqueFd timer_;
  Nanos armed_mono_ = kNever;
  LoopCalls calls_;
  udp::UdpEngine engine_;
  bool stop_ = false;
  std::thread thread_;
};

Status UdpTransport::watch(int descriptor, std::uint32_t events, std::uint64_t key) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return makeErrnoError("udp", "cannot poll a descriptor", errno);
  }
  return {};
}

Status UdpTransport::open() {
  if (auto opened = engine_.open(); !opened) return opened;
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !timer_.valid()) {
    return makeErrnoError("udp", "cannot make an event loop", errno);
  }
  // Edge-triggered: arming it anew is enough, nothing needs to be read.
  if (auto done = watch(timer_.get(), EPOLLIN | EPOLLET, kTimerKey); !done) return done;
  if (auto done = watch(calls_.descriptor(), EPOLLIN, kCallsKey); !done) return done;
  for (std::size_t i = 0; i < engine_.sockets().size(); ++i) {
    const int descriptor = engine_.sockets()[i].descriptor();
    if (auto done = watch(descriptor, EPOLLIN, kFirstSocket + i); !done) return done;
  }
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "probe-udp");
  return {};
}

UdpTransport::~UdpTransport() {
  if (!thread_.joinable()) return;
  calls_.call([this] { stop_ = true; });
  thread_.join();
}

void UdpTransport::setWork(Work work) {
  calls_.call([&] { engine_.setWork(work, Instant::now()); });
}

void UdpTransport::flush() {
  calls_.call([&] { engine_.flush(Instant::now()); });
}

TransportCounters UdpTransport::counters() {
  TransportCounters counters;
  calls_.call([&] { engine_.addTo(counters); });
  return counters;
}

void UdpTransport::loop() {
  while (!stop_) round();
  calls_.close();
}

void UdpTransport::round() {
  std::array<epoll_event, 64> events;
  const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
  const Instant now = Instant::now();
  engine_.wokeUp(now);
  for (int i = 0; i < ready; ++i) dispatch(events[static_cast<std::size_t>(i)], now);
  engine_.elapse(now);
  armTimer(now.mono);
}

void UdpTransport::dispatch(const epoll_event& event, const Instant& now) {
  if (event.data.u64 == kCallsKey) {
    calls_.run();
  } else if (event.data.u64 >= kFirstSocket) {
    const auto socket = static_cast<std::size_t>(event.data.u64 - kFirstSocket);
    if ((event.events & EPOLLERR) != 0) engine_.hasErrors(socket, now);
    if ((event.events & EPOLLIN) != 0) engine_.readable(socket);
  }
}

void UdpTransport::armTimer(Nanos now) {
  const Nanos next = engine_.nextWake();
  // Armed for earlier: that wake-up arms it anew.
  if (armed_mono_ > now && armed_mono_ <= next) return;
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

Result<std::unique_ptr<Transport>> makeUdpTransport(const AgentContext& context) {
  auto made = std::make_unique<UdpTransport>(context);
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

}  // namespace pingloom::probe
