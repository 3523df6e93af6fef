#include "probe/tcp/transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/fd.h"
#include "common/log.h"
#include "probe/event_loop.h"
#include "probe/tcp/flow_tracer.h"
#include "probe/tcp/listener.h"
#include "probe/tcp/prober.h"

namespace pingloom::probe::tcp {
namespace {

constexpr std::size_t kMaxInFlight = 65'536;
constexpr std::size_t kReservedDescriptors = 256;  // for all other uses in this process

// Every connect in flight uses a descriptor.
std::size_t maxInFlight() {
  const std::size_t limit = raiseDescriptorLimit();
  const std::size_t usable =
      limit > 2 * kReservedDescriptors ? limit - kReservedDescriptors : limit / 2;
  return std::min(usable, kMaxInFlight);
}

// A key of the loop is a connect's (ConnectTable::kFirstKey and above), a trace packet's
// (FlowTracer::kFirstKey and above) or a listener's number.
class TcpTransport final : public Transport, private LoopHandler {
 public:
  explicit TcpTransport(const AgentContext& context)
      : context_(context),
        prober_(context, loop_, stalls_, maxInFlight()),
        tracer_(context, loop_, prober_) {
    prober_.onSilent([this](std::uint32_t task, std::uint32_t target, std::uint16_t port) {
      tracer_.silent(task, target, port, monotonicNow());
    });
  }
  ~TcpTransport() override { loop_.stop(); }
  Status open();

  Protocol protocol() const override { return Protocol::kTcp; }
  void setWork(Work work) override {
    loop_.call([&] {
      prober_.setWork(work, monotonicNow());
      tracer_.workChanged();
    });
  }
  void startBurst(const std::shared_ptr<const Burst>& burst) override {
    loop_.call([&] { prober_.startBurst(burst, monotonicNow()); });
  }
  std::vector<BurstPing> burstPings() override {
    std::vector<BurstPing> pings;
    loop_.call([&] { pings = prober_.tasks().burstPings(); });
    return pings;
  }
  void endBurst() override {
    loop_.call([&] { prober_.endBurst(); });
  }
  void flush() override {
    loop_.call([&] {
      prober_.flush(monotonicNow());
      tracer_.workChanged();
    });
  }
  TransportCounters counters() override;

 private:
  void wokeUp(const Instant& now) override { stalls_.tick(now.mono); }
  void ready(std::uint64_t key, std::uint32_t events, const Instant& now) override;
  void elapse(const Instant& now) override;
  Nanos nextWake() override;

  Status listen();

  const AgentContext& context_;
  EventLoop loop_{"probe-tcp", *this};  // outlives what it watches
  std::vector<Listener> listeners_;
  StallWatch stalls_;
  Prober prober_;
  FlowTracer tracer_;
  std::uint64_t answered_ = 0;
};

Status TcpTransport::listen() {
  std::vector<IpAddress> addresses = context_.listen;
  const bool everywhere = addresses.empty();
  if (everywhere) {
    static constexpr std::array<std::uint8_t, 16> kAnyV6{};
    addresses = {IpAddress(), IpAddress::fromBytes16(kAnyV6.data())};
  }
  for (const IpAddress& address : addresses) {
    auto listener = Listener::open({address, context_.port}, loop_, listeners_.size());
    if (!listener) {
      // A host without IPv6 is no error unless an IPv6 address was configured.
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
  if (auto opened = loop_.open(); !opened) return opened;
  if (auto done = listen(); !done) return done;
  loop_.start();
  return {};
}

void TcpTransport::ready(std::uint64_t key, std::uint32_t /*events*/, const Instant& now) {
  if (key >= ConnectTable::kFirstKey) {
    prober_.onReady(key, now.mono);
  } else if (key >= FlowTracer::kFirstKey) {
    tracer_.onReady(key, now.mono);
  } else {
    answered_ += listeners_[key].acceptReady(now.mono);
  }
}

void TcpTransport::elapse(const Instant& now) {
  for (Listener& listener : listeners_) listener.resume(now.mono);
  prober_.expire(now.mono);
  prober_.closeDue(now.mono);
  prober_.start(now.mono);
  tracer_.elapse(monotonicNow());
}

Nanos TcpTransport::nextWake() {
  Nanos next = std::min({prober_.nextWake(), tracer_.nextWake(), stalls_.nextTick()});
  for (const Listener& listener : listeners_) next = std::min(next, listener.nextResume());
  return next;
}

TransportCounters TcpTransport::counters() {
  TransportCounters counters;
  loop_.call([&] {
    prober_.addTo(counters);
    counters.pings_answered = answered_;
    counters.stalls = stalls_.stalls();
  });
  return counters;
}

}  // namespace

Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context) {
  auto made = std::make_unique<TcpTransport>(context);
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

}  // namespace pingloom::probe::tcp
