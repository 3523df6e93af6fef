#include "cli/ping_session.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/rdma_ping.h"
#include "common/fd.h"
#include "common/poll_set.h"
#include "common/random.h"
#include "probe/event_loop.h"
#include "probe/stall_watch.h"
#include "probe/tcp/prober.h"
#include "probe/transport.h"
#include "probe/udp/engine.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kEndless = 10 * 365 * 24 * kHour;

// The part that both protocols share.
class SessionBase : public PingSession {
 protected:
  explicit SessionBase(const PingRequest& request) : request_(request) {
    context_.listen = {request.source};
    context_.incarnation = static_cast<std::uint32_t>(randomU64());
    context_.one_off = true;
    context_.clock = &clock_;
    context_.windows = &queue_;
  }
  probe::Work work() const { return {{assignmentOf(request_)}, nullptr}; }
  static probe::PairWindow& pairOf(probe::TaskList& tasks) {
    return tasks[0].windows.windowFor(0, 0);  // the only window there is
  }

  PingRequest request_;
  probe::WindowClock clock_{0};
  probe::WindowQueue queue_;
  probe::AgentContext context_;
};

class UdpSession final : public SessionBase {
 public:
  explicit UdpSession(const PingRequest& request) : SessionBase(request), engine_(context_) {}

  Status open() {
    if (auto opened = engine_.open(); !opened) return opened;
    engine_.setWork(work(), Instant::now());
    engine_.prober().tasks()[0].schedule.limit(request_.count);
    return {};
  }
  bool wait(int stop) override {
    const int socket = engine_.sockets()[0].descriptor();
    PollSet<Wake> wakes;
    wakes.watch(Wake::kStop, stop);
    wakes.watch(Wake::kProbes, socket);
    wakes.wait(engine_.nextWake() - monotonicNow());
    const Instant now = Instant::now();
    engine_.wokeUp(now);
    if ((wakes.events(Wake::kProbes) & POLLERR) != 0) engine_.hasErrors(0, now);
    if ((wakes.events(Wake::kProbes) & POLLIN) != 0) engine_.readable(0);
    engine_.elapse(now);
    return !wakes.ready(Wake::kStop);
  }
  probe::PairWindow& pair() override { return pairOf(engine_.prober().tasks()); }
  std::uint64_t skipped() override {
    probe::TransportCounters counters;
    engine_.addTo(counters);
    return counters.pings_skipped;
  }

 private:
  enum class Wake { kStop, kProbes, kCount };

  probe::udp::Engine engine_;
};

class TcpSession final : public SessionBase, private probe::LoopHandler {
 public:
  static constexpr std::size_t kMaxInFlight = 512;

  explicit TcpSession(const PingRequest& request)
      : SessionBase(request), prober_(context_, loop_, stalls_, kMaxInFlight) {}

  Status open() {
    if (auto opened = loop_.open(); !opened) return opened;
    prober_.setWork(work(), monotonicNow());
    prober_.tasks()[0].schedule.limit(request_.count);
    return {};
  }
  bool wait(int stop) override {
    if (!std::exchange(watching_, true)) {
      if (!loop_.watch(stop, EPOLLIN, kStopKey)) return false;
    }
    loop_.round();
    return !stopped_;
  }
  probe::PairWindow& pair() override { return pairOf(prober_.tasks()); }
  std::uint64_t skipped() override {
    probe::TransportCounters counters;
    prober_.addTo(counters);
    return counters.pings_skipped;
  }

 private:
  static constexpr std::uint64_t kStopKey = 0;

  void wokeUp(const Instant& now) override {
    stalls_.tick(now.mono);
    settled_ = false;
  }
  void ready(std::uint64_t key, std::uint32_t /*events*/, const Instant& now) override {
    if (key == kStopKey) {
      stopped_ = true;
    } else if (!std::exchange(settled_, true)) {
      // Taking one connect in a round gives each its own line; the others stay ready.
      prober_.onReady(key, now.mono);
    }
  }
  void elapse(const Instant& now) override {
    if (settled_) return;
    prober_.expire(now.mono);
    prober_.start(now.mono);
  }
  Nanos nextWake() override { return std::min(prober_.nextWake(), stalls_.nextTick()); }

  probe::EventLoop loop_{"ping-tcp", *this};
  probe::StallWatch stalls_;
  probe::tcp::Prober prober_;
  bool watching_ = false;
  bool settled_ = false;
  bool stopped_ = false;
};

template <typename Session>
Result<std::unique_ptr<PingSession>> opened(const PingRequest& request) {
  auto session = std::make_unique<Session>(request);
  if (auto done = session->open(); !done) return tl::unexpected(done.error());
  return session;
}

}  // namespace

std::shared_ptr<const plan::Assignment> assignmentOf(const PingRequest& request) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "ping";
  made->probe.protocol = request.protocol;
  made->probe.interval = request.interval;
  made->probe.timeout = request.timeout;
  made->probe.window = kEndless;
  made->probe.traffic_class = request.traffic_class;
  made->probe.payload = request.payload;
  if (request.protocol != Protocol::kRdma) made->probe.port = request.target.port;
  made->source = request.source;
  made->destinations = {request.target.address};
  return made;
}

Result<std::unique_ptr<PingSession>> startPing(const PingRequest& request) {
  if (request.protocol == Protocol::kTcp) return opened<TcpSession>(request);
  if (request.protocol == Protocol::kRdma) return startRdmaPing(request);
  return opened<UdpSession>(request);
}

Result<IpAddress> sourceTowards(const IpAddress& target) {
  const UniqueFd socket(::socket(target.isV4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  socklen_t size = target.toSockaddr(9, storage);  // nothing is sent
  if (!socket.valid() || connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    return makeErrnoError(target.text(), "no route to it", errno);
  }
  size = sizeof storage;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return makeErrnoError(target.text(), "no source address", errno);
  }
  return IpAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage));
}

}  // namespace pingloom::cli
