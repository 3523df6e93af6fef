#include "run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "probe/rdma/transport.h"
#include "probe/udp/transport.h"
#include "rdma/soft/soft_device.h"
#include "shared/child.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kWarmUp = 3 * kSecond;

void sleepFor(Nanos duration) { std::this_thread::sleep_for(std::chrono::nanoseconds(duration)); }

// Takes closed windows as the agent's control thread does.
class Consumer {
 public:
  explicit Consumer(probe::WindowQueue& queue) : queue_(queue), thread_([this] { run(); }) {}
  void finish() {
    done_ = true;
    thread_.join();
    take();
  }
  ProberFigures figures;
  Distribution network;

 private:
  void run() {
    while (!done_) {
      pollfd wait{queue_.descriptor(), POLLIN, 0};
      poll(&wait, 1, 50);
      take();
    }
  }
  void take() {
    for (probe::ClosedWindow& window : queue_.takeAll()) {
      ++figures.windows;
      for (const probe::PairWindow& pair : window.pairs) {
        figures.counted_sent += pair.sent;
        figures.received += pair.received;
        figures.lost += pair.lost;
        figures.ack_lost += pair.ack_lost;
        for (const std::uint32_t count : pair.anomalous) figures.anomalous += count;
        network.merge(pair.network);
      }
      queue_.recycle(std::move(window.pairs));
    }
  }
  probe::WindowQueue& queue_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

IpAddress target(std::uint32_t number) { return *IpAddress::fromV4(0x7F010000).plus(number); }
// UDP port 4791 of 127.0.0.1 may be in use.
IpAddress sourceOf(const Load& load) {
  return IpAddress::fromV4(load.rdma ? 0x7F020001 : 0x7F000001);
}

// Makes one probe, or as many as it takes where there are fewer targets than pairs.
std::vector<std::shared_ptr<const plan::Assignment>> assignmentsOf(const Load& load) {
  std::vector<std::shared_ptr<const plan::Assignment>> made;
  const std::uint32_t each = load.rdma ? kRdmaHosts : load.targets;
  for (std::uint32_t first = 0; first < load.targets; first += each) {
    auto assignment = std::make_shared<plan::Assignment>();
    assignment->probe.name = "scale" + std::to_string(first);
    assignment->probe.protocol = load.rdma ? Protocol::kRdma : Protocol::kUdp;
    assignment->probe.interval = load.interval;
    assignment->probe.window = load.window;
    assignment->probe.port = load.rdma ? 0 : static_cast<std::uint16_t>(load.port + 1);
    assignment->source = sourceOf(load);
    for (std::uint32_t i = 0; i < std::min(each, load.targets - first); ++i) {
      assignment->destinations.push_back(target(load.rdma ? i : first + i));
    }
    made.push_back(std::move(assignment));
  }
  return made;
}

struct Agent {
  probe::WindowClock clock{utcNow() - monotonicNow()};
  probe::WindowQueue queue;
  probe::AgentContext context;
  std::unique_ptr<probe::Transport> transport;

  Status open(const Load& load, std::vector<IpAddress> listen, std::uint16_t port) {
    context.listen = std::move(listen);
    context.port = port;
    context.phase_seed = 1;
    context.clock = &clock;
    context.windows = &queue;
    context.open_device = [](const IpAddress& address) {
      // Raw sockets are left out: the kernel offers each packet to every one of them on the host.
      rdma::soft::SoftOptions options;
      options.raw_socket = false;
      return rdma::soft::openSoftDevice(address, options);
    };
    auto made =
        load.rdma ? probe::rdma_ud::makeTransport(context) : probe::udp::makeTransport(context);
    if (!made) return tl::unexpected(made.error());
    transport = std::move(*made);
    return {};
  }
};

// Where a responder is. It is sent through a pipe.
struct Place {
  std::uint32_t host;
  std::uint32_t qpn;
  std::uint32_t q_key;
};

std::vector<Place> placesOf(probe::Transport& transport) {
  std::vector<plan::Endpoint> endpoints;
  const auto all = waitUntil("endpoints", kPatience / 2, [&] {
    endpoints = transport.endpoints();
    return endpoints.size() >= kRdmaHosts;
  });
  std::vector<Place> places;
  if (!all) return places;  // fewer than the parent wants to read
  for (std::uint32_t host = 0; host < kRdmaHosts; ++host) {
    for (const plan::Endpoint& endpoint : endpoints) {
      if (endpoint.address == target(host)) {
        places.push_back({host, endpoint.qpn, endpoint.q_key});
      }
    }
  }
  return places;
}

std::shared_ptr<const plan::EndpointTable> tableOf(const std::vector<Place>& places) {
  auto table = std::make_shared<plan::EndpointTable>();
  for (const Place& place : places) {
    plan::Endpoint endpoint;
    endpoint.address = target(place.host);
    endpoint.gid = rdma::Gid::of(endpoint.address).bytes;
    endpoint.qpn = place.qpn;
    endpoint.q_key = place.q_key;
    (*table)[endpoint.address] = endpoint;
  }
  return table;
}

// Answers until the parent kills it.
int respond(const Load& load, int ready) {
  Agent agent;
  if (!agent.open(load, {IpAddress()}, static_cast<std::uint16_t>(load.port + 1))) return 1;
  probe::Work work;
  work.known_sources = std::make_shared<const probe::Guests>(
      probe::Guests{{sourceOf(load), probe::GuestList::kMaxRate}});
  for (std::uint32_t i = 0; load.rdma && i < kRdmaHosts; ++i) work.own.push_back(target(i));
  agent.transport->setWork(std::move(work));
  if (load.rdma) {
    const auto places = placesOf(*agent.transport);
    const std::size_t size = places.size() * sizeof(Place);
    if (write(ready, places.data(), size) != static_cast<ssize_t>(size)) return 1;
  }
  if (write(ready, "r", 1) != 1) return 1;
  for (;;) pause();
}

// Writes a byte when the measurement begins, the figures when it ends, and waits to be killed.
int probe(const Load& load, const std::vector<Place>& places, int out) {
  Agent agent;
  if (!agent.open(load, {sourceOf(load)}, load.port)) return 1;
  Consumer consumer(agent.queue);
  probe::Work work;
  work.assignments = assignmentsOf(load);
  if (load.rdma) work.own = {sourceOf(load)};
  if (load.rdma) agent.transport->setEndpoints(tableOf(places));
  agent.transport->setWork(std::move(work));
  sleepFor(kWarmUp);
  const auto before = agent.transport->counters();
  const Nanos begin = monotonicNow();
  if (write(out, "b", 1) != 1) return 1;
  sleepFor(load.duration);
  const auto after = agent.transport->counters();
  const Nanos took = monotonicNow() - begin;
  if (write(out, "e", 1) != 1) return 1;
  sleepFor(2 * kSecond);  // the last exchanges get their verdicts
  agent.transport->flush();
  consumer.finish();
  ProberFigures figures = consumer.figures;
  figures.wanted =
      static_cast<std::uint64_t>(static_cast<double>(load.targets) * static_cast<double>(took) /
                                 static_cast<double>(load.interval));
  figures.sent = after.pings_sent - before.pings_sent;
  figures.lateness = after.send_lateness.summary();
  figures.network_p50 = consumer.network.summary().p50;
  if (write(out, &figures, sizeof figures) != sizeof figures) return 1;
  for (;;) pause();
}

}  // namespace

Result<RunFigures> runAgents(const Load& load) {
  Child responder([&](int out) { return respond(load, out); });
  std::vector<Place> places(load.rdma ? kRdmaHosts : 0);
  if (load.rdma && !responder.read(places.data(), places.size() * sizeof(Place))) {
    return makeError("responder", "did not start; is UDP port 4791 of 127.1.0.0/24 free?");
  }
  if (!responder.await('r')) return makeError("responder", "did not start; is the port free?");
  Child prober([&](int out) { return probe(load, places, out); });
  if (!prober.await('b')) return makeError("prober", "did not start; is the port free?");
  RunFigures made;
  const Nanos prober_before = prober.usage().cpu;
  const Nanos responder_before = responder.usage().cpu;
  if (!prober.await('e', load.duration + kPatience)) return makeError("prober", "ended early");
  made.prober_cpu = prober.usage().cpu - prober_before;
  made.responder_cpu = responder.usage().cpu - responder_before;
  if (!prober.read(&made.prober, sizeof made.prober)) return makeError("prober", "ended early");
  made.prober_resident_bytes = prober.usage().max_resident_bytes;
  made.responder_resident_bytes = responder.usage().max_resident_bytes;
  return made;
}

}  // namespace pingloom::bench
