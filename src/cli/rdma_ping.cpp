#include "cli/rdma_ping.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <iostream>
#include <utility>

#include "cli/command_options.h"
#include "cli/endpoint_lookup.h"
#include "common/random.h"
#include "common/text.h"
#include "probe/event_loop.h"
#include "probe/rdma/port.h"
#include "probe/rdma/transport.h"
#include "probe/udp/transport.h"
#include "rdma/open_device.h"

namespace pingloom::cli {
namespace {

constexpr int kEndpointPause = 10;      // milliseconds between two looks whether it is there
constexpr int kEndpointPatience = 100;  // looks, once there is one, for the others

void prepare(probe::AgentContext& context, const rdma::DeviceOptions& options) {
  context.incarnation = static_cast<std::uint32_t>(randomU64());
  context.one_off = true;
  context.open_device = [options](const IpAddress& address) {
    return rdma::openDevice(address, options);
  };
}

class RdmaSession final : public PingSession, private probe::LoopHandler {
 public:
  explicit RdmaSession(const PingRequest& request) : request_(request) {}
  Status open();

  bool wait(int stop) override;
  probe::PairWindow& pair() override {
    return port_->prober().tasks()[0].windows.windowFor(0, 0);  // the only window there is
  }
  std::uint64_t skipped() override { return port_->prober().pingsSkipped(); }

 private:
  static constexpr std::uint64_t kPortKey = 1;
  static constexpr std::uint64_t kStopKey = 2;

  void wokeUp(const Instant& now) override { shared_.stalls.tick(now.mono); }
  void ready(std::uint64_t key, std::uint32_t /*events*/, const Instant& /*now*/) override {
    if (key == kStopKey) stopped_ = true;
    if (key == kPortKey) port_->ready();
  }
  void elapse(const Instant& now) override { port_->elapse(now); }
  Nanos nextWake() override {
    return std::min(shared_.stalls.nextTick(), port_->nextWake(monotonicNow()));
  }

  PingRequest request_;
  probe::WindowClock clock_{0};
  probe::WindowQueue queue_;
  probe::AgentContext context_;
  probe::EventLoop loop_{"ping-rdma", *this};
  probe::rdma_ud::PortContext shared_{context_};
  std::unique_ptr<probe::rdma_ud::Port> port_;
  bool watching_ = false;
  bool stopped_ = false;
};

Status RdmaSession::open() {
  const auto options = deviceOptions(request_.device);
  if (!options) return tl::unexpected(options.error());
  prepare(context_, *options);
  context_.clock = &clock_;
  context_.windows = &queue_;
  // Problems of this host are reported before the other host is asked.
  if (auto device = context_.open_device(request_.source); !device) {
    return tl::unexpected(device.error());
  }
  const auto endpoint = lookUpEndpoint(request_.source, request_.target);
  if (!endpoint) return tl::unexpected(endpoint.error());
  if (auto opened = loop_.open(); !opened) return opened;
  shared_.loop = &loop_;
  auto table = std::make_shared<plan::EndpointTable>();
  (*table)[endpoint->address] = *endpoint;
  shared_.peers.set(std::move(table));
  port_ = std::make_unique<probe::rdma_ud::Port>(shared_, request_.source, kPortKey);
  port_->elapse(Instant::now());  // opens the endpoint
  port_->setWork({assignmentOf(request_)}, Instant::now());
  port_->prober().tasks()[0].schedule.limit(request_.count);
  return {};
}

bool RdmaSession::wait(int stop) {
  if (!std::exchange(watching_, true)) {
    if (!loop_.watch(stop, EPOLLIN, kStopKey)) return false;
  }
  loop_.round();
  return !stopped_;
}

// Returns the address given, or all addresses of this host that have a device.
Result<std::vector<IpAddress>> answerable(const std::optional<IpAddress>& address,
                                          const probe::AgentContext& context) {
  const auto candidates = ownAddresses(address, "--listen");
  if (!candidates) return tl::unexpected(candidates.error());
  std::vector<IpAddress> found;
  std::optional<Error> fault;
  for (const IpAddress& one : *candidates) {
    if (auto device = context.open_device(one)) {
      found.push_back(one);
    } else if (!fault) {
      fault = device.error();
    }
  }
  if (found.empty()) return tl::unexpected(*fault);
  return found;
}

// Other threads open the endpoints; queries are answered once an endpoint is open. The log tells
// why an endpoint could not be opened, and the others do not wait for it. Returns false when
// stopped.
bool awaitEndpoints(probe::Transport& rdma, std::size_t all, int stop) {
  pollfd ready{stop, POLLIN, 0};
  int patience = kEndpointPatience;
  while (rdma.endpoints().size() < all && (rdma.endpoints().empty() || patience-- > 0)) {
    if (::poll(&ready, 1, kEndpointPause) > 0) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<PingSession>> startRdmaPing(const PingRequest& request) {
  auto session = std::make_unique<RdmaSession>(request);
  if (auto opened = session->open(); !opened) return tl::unexpected(opened.error());
  return session;
}

Status listenForRdmaPings(const std::optional<IpAddress>& address, std::uint16_t port,
                          const std::string& device, int stop) {
  const auto options = deviceOptions(device);
  if (!options) return tl::unexpected(options.error());
  probe::WindowClock clock{0};
  probe::WindowQueue queue;
  probe::EndpointBoard board;
  probe::AgentContext context;
  prepare(context, *options);
  const auto addresses = answerable(address, context);
  if (!addresses) return tl::unexpected(addresses.error());
  context.listen = *addresses;
  context.port = port;
  context.clock = &clock;
  context.windows = &queue;
  context.endpoint_board = &board;
  auto udp = probe::udp::makeTransport(context);
  if (!udp) return tl::unexpected(udp.error());
  auto rdma = probe::rdma_ud::makeTransport(context);
  if (!rdma) return tl::unexpected(rdma.error());
  probe::Work work;
  work.own = *addresses;
  (*rdma)->setWork(std::move(work));
  if (!awaitEndpoints(**rdma, addresses->size(), stop)) return {};
  for (const plan::Endpoint& endpoint : (*rdma)->endpoints()) {
    std::cout << fmt::format("answering RDMA pings to {}; ask with 'pingloom ping rdma {}'\n",
                             SocketAddress{endpoint.address, port}.text(), endpoint.address.text());
  }
  std::cout << "stop with Ctrl-C" << std::endl;
  pollfd ready{stop, POLLIN, 0};
  while (::poll(&ready, 1, -1) < 0) {
  }
  const probe::TransportCounters counters = (*rdma)->counters();
  std::cout << fmt::format("answered {} pings\n", counters.pings_answered);
  return {};
}

}  // namespace pingloom::cli
