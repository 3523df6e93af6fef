#include "probe/rdma/transport.h"

#include <algorithm>
#include <utility>

#include "probe/event_loop.h"
#include "probe/rdma/port.h"

namespace pingloom::probe::rdma_ud {
namespace {

std::vector<std::shared_ptr<const plan::Assignment>> assignmentsFrom(const IpAddress& source,
                                                                     const Work& work) {
  std::vector<std::shared_ptr<const plan::Assignment>> made;
  for (const auto& assignment : work.assignments) {
    if (assignment->source == source) made.push_back(assignment);
  }
  return made;
}

class RdmaTransport final : public Transport, private LoopHandler {
 public:
  explicit RdmaTransport(const AgentContext& context) : context_(context) {}
  ~RdmaTransport() override { loop_.stop(); }
  Status open();

  Protocol protocol() const override { return Protocol::kRdma; }
  void setWork(Work work) override {
    loop_.call([&] { replacePorts(work, Instant::now()); });
  }
  void setEndpoints(const std::shared_ptr<const plan::EndpointTable>& endpoints) override {
    loop_.call([&] {
      context_.peers.set(endpoints);
      for (const auto& port : ports_) port->peersChanged();
    });
  }
  std::vector<plan::Endpoint> endpoints() override;
  void startBurst(const std::shared_ptr<const Burst>& burst) override;
  std::vector<BurstPing> burstPings() override;
  void endBurst() override {
    loop_.call([&] {
      for (const auto& port : ports_) port->prober().endBurst();
    });
  }
  void flush() override {
    loop_.call([&] {
      for (const auto& port : ports_) port->flush(Instant::now());
    });
  }
  TransportCounters counters() override;

 private:
  void wokeUp(const Instant& now) override { context_.stalls.tick(now.mono); }
  void ready(std::uint64_t key, std::uint32_t events, const Instant& now) override;
  void elapse(const Instant& now) override;
  Nanos nextWake() override;

  void replacePorts(const Work& work, const Instant& now);
  std::unique_ptr<Port> takePort(const IpAddress& address);
  std::vector<plan::Endpoint> endpointsNow() const;
  void endpointsChanged();

  EventLoop loop_{"probe-rdma", *this};  // outlives the ports
  PortContext context_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::uint64_t last_key_ = 0;
  // What ports counted before they were replaced.
  TransportCounters gone_;
};

Status RdmaTransport::open() {
  context_.loop = &loop_;
  if (auto opened = loop_.open(); !opened) return opened;
  loop_.start();
  return {};
}

std::unique_ptr<Port> RdmaTransport::takePort(const IpAddress& address) {
  const auto found = std::find_if(ports_.begin(), ports_.end(), [&](const auto& port) {
    return port != nullptr && port->address() == address;
  });
  if (found != ports_.end()) return std::move(*found);
  return std::make_unique<Port>(context_, address, ++last_key_);
}

void RdmaTransport::replacePorts(const Work& work, const Instant& now) {
  context_.guests.setKnown(work.known_sources);
  std::vector<std::unique_ptr<Port>> next;
  for (const IpAddress& address : work.own) {
    next.push_back(takePort(address));
    next.back()->setWork(assignmentsFrom(address, work), now);
  }
  ports_.swap(next);
  for (const auto& port : next) {
    if (port == nullptr) continue;
    port->flush(now);
    port->addTo(gone_);
  }
  const bool some_left = std::any_of(next.begin(), next.end(), [](const auto& port) {
    return port != nullptr && port->endpoint().has_value();
  });
  if (some_left) endpointsChanged();
}

void RdmaTransport::startBurst(const std::shared_ptr<const Burst>& burst) {
  loop_.call([&] {
    for (const auto& port : ports_) {
      port->prober().endBurst();
      if (port->address() != burst->assignment->source) continue;
      port->prober().startBurst(burst, monotonicNow());
    }
  });
}

std::vector<BurstPing> RdmaTransport::burstPings() {
  std::vector<BurstPing> pings;
  loop_.call([&] {
    for (const auto& port : ports_) {
      auto some = port->prober().tasks().burstPings();
      if (!some.empty()) pings = std::move(some);  // only one port has the burst
    }
  });
  return pings;
}

void RdmaTransport::ready(std::uint64_t key, std::uint32_t /*events*/, const Instant& /*now*/) {
  for (const auto& port : ports_) {
    if (port->key() == key) port->ready();
  }
}

void RdmaTransport::elapse(const Instant& now) {
  bool changed = false;
  for (const auto& port : ports_) {
    port->elapse(now);
    changed |= port->takeChanged();
  }
  if (changed) endpointsChanged();
}

Nanos RdmaTransport::nextWake() {
  const Nanos now = monotonicNow();
  Nanos next = context_.stalls.nextTick();
  for (const auto& port : ports_) next = std::min(next, port->nextWake(now));
  return next;
}

std::vector<plan::Endpoint> RdmaTransport::endpointsNow() const {
  std::vector<plan::Endpoint> made;
  for (const auto& port : ports_) {
    if (auto endpoint = port->endpoint()) made.push_back(std::move(*endpoint));
  }
  return made;
}

void RdmaTransport::endpointsChanged() {
  if (context_.agent->endpoint_board != nullptr) {
    context_.agent->endpoint_board->publish(endpointsNow());
  }
  context_.agent->endpoints_changed();
}

std::vector<plan::Endpoint> RdmaTransport::endpoints() {
  std::vector<plan::Endpoint> made;
  loop_.call([&] { made = endpointsNow(); });
  return made;
}

TransportCounters RdmaTransport::counters() {
  TransportCounters counters;
  loop_.call([&] {
    counters = gone_;
    gone_.send_lateness = {};
    for (const auto& port : ports_) port->addTo(counters);
    counters.stalls = context_.stalls.stalls();
    counters.dropped = context_.dropped;
  });
  return counters;
}

}  // namespace

Result<std::unique_ptr<Transport>> makeTransport(const AgentContext& context) {
  auto made = std::make_unique<RdmaTransport>(context);
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

}  // namespace pingloom::probe::rdma_ud
