#include "probe/udp/transport.h"

#include <sys/epoll.h>

#include <utility>

#include "probe/event_loop.h"
#include "probe/udp/engine.h"

namespace pingloom::probe::udp {
namespace {

// The key of an event is the number of its socket.
class UdpTransport final : public Transport, private LoopHandler {
 public:
  explicit UdpTransport(const AgentContext& context) : engine_(context) {}
  ~UdpTransport() override { loop_.stop(); }
  Status open();

  Protocol protocol() const override { return Protocol::kUdp; }
  void setWork(Work work) override {
    loop_.call([&] { engine_.setWork(work, Instant::now()); });
  }
  void startBurst(const std::shared_ptr<const Burst>& burst) override {
    loop_.call([&] { engine_.prober().startBurst(burst, monotonicNow()); });
  }
  std::vector<BurstPing> burstPings() override {
    std::vector<BurstPing> pings;
    loop_.call([&] { pings = engine_.prober().tasks().burstPings(); });
    return pings;
  }
  void endBurst() override {
    loop_.call([&] { engine_.prober().endBurst(); });
  }
  void flush() override {
    loop_.call([&] { engine_.flush(Instant::now()); });
  }
  TransportCounters counters() override {
    TransportCounters counters;
    loop_.call([&] { engine_.addTo(counters); });
    return counters;
  }

 private:
  void wokeUp(const Instant& now) override { engine_.wokeUp(now); }
  void ready(std::uint64_t key, std::uint32_t events, const Instant& now) override {
    const auto socket = static_cast<std::size_t>(key);
    if ((events & EPOLLERR) != 0) engine_.hasErrors(socket, now);
    if ((events & EPOLLIN) != 0) engine_.readable(socket);
  }
  void elapse(const Instant& now) override { engine_.elapse(now); }
  Nanos nextWake() override { return engine_.nextWake(); }

  Engine engine_;
  EventLoop loop_{"probe-udp", *this};
};

Status UdpTransport::open() {
  if (auto opened = engine_.open(); !opened) return opened;
  if (auto opened = loop_.open(); !opened) return opened;
  for (std::size_t i = 0; i < engine_.sockets().size(); ++i) {
    const int descriptor = engine_.sockets()[i].descriptor();
    if (auto done = loop_.watch(descriptor, EPOLLIN, i); !done) return done;
  }
  loop_.start();
  return {};
}

}  // namespace

Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context) {
  auto made = std::make_unique<UdpTransport>(context);
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

}  // namespace pingloom::probe::udp
