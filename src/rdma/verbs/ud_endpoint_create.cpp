// Creates a UD endpoint.
#include <algorithm>
#include <limits>
#include <vector>

#include "common/log.h"
#include "common/random.h"
#include "rdma/verbs/async_events.h"
#include "rdma/verbs/event_descriptor.h"
#include "rdma/verbs/grh.h"
#include "rdma/verbs/queue_pair.h"
#include "rdma/verbs/verbs_ud_endpoint.h"

namespace pingloom::rdma::verbs {
namespace {

// Each buffer that the device writes has its own cache lines.
constexpr std::size_t kLine = 64;
constexpr std::size_t inLines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

struct Queues {
  CompletionQueue completions;
  QueuePairHandle queue_pair;
};

Result<Queues> createQueues(const OpenedDevice& device, const DeviceDetails& details,
                            const QueueDepths& depths, const std::string& entity) {
  for (const bool hardware : {true, false}) {
    auto completions = CompletionQueue::create(device.context.get(), details,
                                               depths.send + depths.receive, hardware, entity);
    if (!completions) return tl::unexpected(completions.error());
    bool refused = false;
    auto pair = createUdQueuePair(device.domain.get(), completions->get(), depths, entity, refused);
    if (pair) return Queues{std::move(*completions), std::move(*pair)};
    // Some NICs that are set to another time format support no queue pair with such a completion
    // queue.
    const bool again = refused && completions->clock().source() == ClockSource::kHardware;
    if (!again) return tl::unexpected(pair.error());
    log::warning("{}; software timestamps are used", pair.error().text());
  }
  return makeError(entity, "cannot make a UD queue pair");
}

Result<std::uint32_t> chooseMtu(const PortDetails& port, const UdOptions& options,
                                const std::string& entity) {
  if (options.mtu == 0) return port.active_mtu;
  if (options.mtu <= port.active_mtu) return options.mtu;
  return makeError(entity, fmt::format("rdma.mtu {} is above the port's active MTU {}", options.mtu,
                                       port.active_mtu));
}

Result<std::shared_ptr<OpenedDevice>> open(ibv_device* device, const std::string& entity) {
  auto context = openContext(device);
  if (!context) return tl::unexpected(context.error());
  auto domain = allocateProtectionDomain(context->get(), entity);
  if (!domain) return tl::unexpected(domain.error());
  return std::make_shared<OpenedDevice>(OpenedDevice{std::move(*context), std::move(*domain)});
}

QueueDepths depthsFor(ibv_context* context, std::size_t receive_slot) {
  ibv_device_attr limits{};
  if (ibv_query_device(context, &limits) != 0) limits.max_qp_wr = limits.max_cqe = 1 << 20;
  const auto most = static_cast<std::uint32_t>(std::max(1, limits.max_qp_wr));
  QueueDepths depths;
  depths.send = std::min(VerbsUdEndpoint::kSends, most);
  depths.receive = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(VerbsUdEndpoint::kReceiveBytes / receive_slot,
                              VerbsUdEndpoint::kMinReceives, VerbsUdEndpoint::kMaxReceives));
  depths.receive = std::min(depths.receive, most);
  const auto entries = static_cast<std::uint32_t>(std::max(1, limits.max_cqe));
  if (entries > depths.send) depths.receive = std::min(depths.receive, entries - depths.send);
  return depths;
}

std::vector<std::uint8_t> gidChoices(const PortDetails& port, const GidDetails& own) {
  std::vector<std::uint8_t> choices;
  for (const GidDetails& gid : port.gids) {
    const bool reached = port.link_layer == LinkLayer::kInfiniband ||
                         (gid.gid == own.gid && gid.type == GidType::kRoceV2);
    if (reached && gid.index <= std::numeric_limits<std::uint8_t>::max()) {
      choices.push_back(static_cast<std::uint8_t>(gid.index));
    }
  }
  return choices;
}

// Returns nullptr where paths cannot be traced.
Result<std::unique_ptr<soft::TraceSockets>> openTraces(PortChoice choice, const GidDetails& gid,
                                                       std::uint32_t qpn) {
  if (choice == PortChoice::kUnknown) return nullptr;
  return soft::TraceSockets::create(gid.gid.address(), qpn, gid.interface);
}

}  // namespace

Result<std::unique_ptr<UdEndpoint>> VerbsUdEndpoint::create(ibv_device* device,
                                                            const DeviceDetails& details,
                                                            const PortDetails& port,
                                                            const GidDetails& gid,
                                                            const UdOptions& options) {
  const std::string entity = fmt::format("{} port {}", details.name, port.number);
  const bool roce = port.link_layer == LinkLayer::kEthernet;
  const auto mtu = chooseMtu(port, options, entity);
  if (!mtu) return tl::unexpected(mtu.error());
  auto opened = open(device, entity);
  if (!opened) return tl::unexpected(opened.error());
  if (auto set = makeEventsNonBlocking((*opened)->context.get()); !set) {
    return makeError(entity, set.error().reason);
  }

  const std::size_t send_slot = inLines(*mtu);
  const std::size_t receive_slot = inLines(kGrhBytes + std::max(port.active_mtu, gid.link_mtu));
  const QueueDepths depths = depthsFor((*opened)->context.get(), receive_slot);
  auto queues = createQueues(**opened, details, depths, entity);
  if (!queues) return tl::unexpected(queues.error());
  auto send_memory =
      RegisteredMemory::create((*opened)->domain.get(), depths.send * send_slot, entity);
  if (!send_memory) return tl::unexpected(send_memory.error());
  auto receive_memory =
      RegisteredMemory::create((*opened)->domain.get(), depths.receive * receive_slot, entity);
  if (!receive_memory) return tl::unexpected(receive_memory.error());

  SendRing sends(std::move(*send_memory), depths.send, send_slot);
  ReceiveRing receives(std::move(*receive_memory), depths.receive, receive_slot);
  ibv_qp* pair = queues->queue_pair.get();
  const std::uint32_t q_key =
      options.q_key.value_or(static_cast<std::uint32_t>(randomU64()) & ~kPrivilegedQKey);
  Status ready = initialise(pair, port.number, options.p_key_index, q_key, entity);
  if (ready) ready = receives.repost(pair);  // before the first datagram can arrive
  if (ready) ready = makeReady(pair, entity);
  if (!ready) return makeError(entity, ready.error().reason);
  const PortChoice port_choice = portChoiceOf(details, gid);
  auto traces = openTraces(port_choice, gid, pair->qp_num);
  if (!traces) return makeError(entity, traces.error().text());
  std::vector<int> descriptors = {queues->completions.descriptor(), (*opened)->context->async_fd};
  if (*traces != nullptr) descriptors.push_back((*traces)->descriptor());
  auto events = createEventDescriptor(descriptors, entity);
  if (!events) return tl::unexpected(events.error());

  const std::uint32_t flow_label =
      options.flow_label != 0 ? options.flow_label : ownLabelOf(port_choice, gid.gid);
  const PathDefaults defaults{.port = port.number,
                              .gid_index = gid.index,
                              .service_level = options.service_level,
                              .by_lid = !roce,
                              .global = roce || options.grh,
                              .flow_label = flow_label,
                              .gid_choices = gidChoices(port, gid)};
  const UdAddress address{gid.gid, roce ? std::uint16_t{0} : port.lid, pair->qp_num, q_key};
  return std::unique_ptr<UdEndpoint>(new VerbsUdEndpoint(
      std::move(*opened), Place{entity, port.number, roce, gid, port_choice, flow_label}, defaults,
      address, *mtu, options.busy, std::move(queues->completions), std::move(sends),
      std::move(receives), std::move(queues->queue_pair), std::move(*traces), std::move(*events)));
}

}  // namespace pingloom::rdma::verbs
