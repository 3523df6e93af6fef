#include "cli/ping_session.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "cli/ping_assignment.h"
#include "cli/rdma_ping.h"
#include "common/fd.h"
#include "common/random.h"
#include "probe/instant.h"
#include "probe/stall_watch.h"
#include "probe/tcp/tcp_prober.h"
#include "probe/transport.h"
#include "probe/udp/udp_engine.h"

namespace pingloom::cli {
namespace {

using probe::Instant;

// Blocks until one of them is ready or the timeout expires.
void pollUntil(std::vector<pollfd>& entries, Nanos until) {
  timespec wait{};
  const Nanos left = std::clamp<Nanos>(until - monotonicNow(), 0, kHour);
  wait.tv_sec = left / kSecond;
  wait.tv_nsec = left % kSecond;
  if (ppoll(entries.data(), entries.size(), &wait, nullptr) <= 0) {
    for (pollfd& entry : entries) entry.revents = 0;
  }
}

// The part that both protocols share.
class SessionBase : public PingSession {
 protected:
  explicit SessionBase(const PingRequest& request) : request_(request) {
    context_.listen = {request.source};
    context_.incarnation = static_cast<std::uint32_t>(randomU64());
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
    engine_.tasks()[0].schedule.limit(request_.count);
    return {};
  }
  bool wait(int stop) override {
    const int socket = engine_.sockets()[0].descriptor();
    std::vector<pollfd> entries = {{stop, POLLIN, 0}, {socket, POLLIN, 0}};
    pollUntil(entries, engine_.nextWake());
    const Instant now = Instant::now();
    engine_.wokeUp(now);
    if ((entries[1].revents & POLLERR) != 0) engine_.hasErrors(0, now);
    if ((entries[1].revents & POLLIN) != 0) engine_.readable(0);
    engine_.elapse(now);
    return entries[0].revents == 0;
  }
  probe::PairWindow& pair() override { return pairOf(engine_.tasks()); }
  std::uint64_t skipped() override {
    probe::TransportCounters counters;
    engine_.addTo(counters);
    return counters.pings_skipped;
  }

 private:
  probe::udp::UdpEngine engine_;
};

class TcpSession final : public SessionBase {
 public:
  static constexpr std::size_t kMaxInFlight = 512;

  explicit TcpSession(const PingRequest& request)
      : SessionBase(request),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        prober_(context_, epoll_.get(), stalls_, kMaxInFlight) {
    prober_.setWork(work(), monotonicNow());
    prober_.tasks()[0].schedule.limit(request.count);
  }
  bool wait(int stop) override {
    std::vector<pollfd> entries = {{stop, POLLIN, 0}, {epoll_.get(), POLLIN, 0}};
    pollUntil(entries, std::min(prober_.nextWake(), stalls_.nextTick()));
    const Nanos now = monotonicNow();
    stalls_.tick(now);
    // Taking one exchange at a time gives each its own line.
    epoll_event event{};
    if (epoll_wait(epoll_.get(), &event, 1, 0) == 1) {
      prober_.onReady(event.data.u64, now);
    } else {
      prober_.expire(now);
      prober_.start(now);
    }
    return entries[0].revents == 0;
  }
  probe::PairWindow& pair() override { return pairOf(prober_.tasks()); }
  std::uint64_t skipped() override {
    probe::TransportCounters counters;
    prober_.addTo(counters);
    return counters.pings_skipped;
  }

 private:
  UniqueFd epoll_;
  probe::StallWatch stalls_;
  probe::TcpProber prober_;
};

}  // namespace

Result<std::unique_ptr<PingSession>> startPing(const PingRequest& request) {
  if (request.protocol == Protocol::kTcp) return std::make_unique<TcpSession>(request);
  if (request.protocol == Protocol::kRdma) return startRdmaPing(request);
  auto session = std::make_unique<UdpSession>(request);
  if (auto opened = session->open(); !opened) return tl::unexpected(opened.error());
  return session;
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
